// The search of the list, and the forms of use cases, which compose commands. Pages can be read without it.
"use strict";
const PATIENCE = 500; // milliseconds for a pattern, which may take for ever

if (typeof document === "undefined") {
  onmessage = ({ data: { pattern, texts } }) => {
    const expression = new RegExp(pattern, "u"); // throws for what no browser reads: `packyard set` judges that
    postMessage(texts.every((text) => expression.test(text)));
  };
} else {
  document.querySelectorAll("search").forEach(prepareSearch);
  document.querySelectorAll(".form").forEach(prepareForm);
  document.querySelectorAll(":not(.form) > pre > [data-start]").forEach((code) => compose(code));
  document.querySelectorAll("pre:has([data-start])").forEach(addCopy);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
}

function prepareSearch(search) {
  const input = search.querySelector("input");
  const cards = [...document.querySelectorAll(".card")];
  const find = () => {
    const words = input.value.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    for (const card of cards) card.hidden = !words.every((word) => ` ${card.dataset.words}`.includes(` ${word}`));
    const count = cards.filter((card) => !card.hidden).length;
    document.querySelector("#count").textContent = `${count} package${count === 1 ? "" : "s"}`;
    history.replaceState(null, "", words.length ? `?q=${encodeURIComponent(input.value)}` : location.pathname);
  };
  search.hidden = false;
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", find);
  find();
}

function prepareForm(form) {
  const rows = [...form.querySelectorAll("tr[data-name]")];
  const status = form.querySelector("[role=status]");
  let turn = 0;
  const update = async () => {
    const own = ++turn;
    const missing = rows.filter((row) => "needed" in row.dataset && !textsOf(row).length).map((row) => row.dataset.name);
    const fits = await Promise.all(rows.map(judge));
    if (own !== turn) return; // something else was typed meanwhile
    const isRight = !missing.length && !fits.includes(false);
    rows.forEach((row, at) => {
      row.querySelector(".wrong").textContent = fits[at] ? "" : `Takes ${row.querySelector(".takes").textContent}`;
      row.querySelector("input, select").setAttribute("aria-invalid", String(!fits[at]));
    });
    const given = rows.flatMap((row) => textsOf(row).map((text) => quote(`${row.dataset.name}=${text}`)));
    const words = [...given, ...missing.map((name) => `${name}=…`)];
    form.querySelectorAll("[data-start]").forEach((code) => compose(code, "values" in code.dataset ? words : []));
    form.querySelectorAll(".copy").forEach((button) => Object.assign(button, { disabled: !isRight, textContent: "Copy" }));
    status.textContent = missing.length ? `Still to be set: ${missing.join(", ")}` : isRight ? "" : "A value does not fit";
  };
  form.querySelector("thead tr")?.append(made("th", { scope: "col", textContent: "Yours" }));
  for (const row of rows) row.appendChild(made("td")).append(fieldOf(row, form), made("p", { className: "wrong", role: "alert" }));
  form.addEventListener("input", update);
  if (status) update();
}

function fieldOf({ dataset: { name, choices, list } }, form) {
  const options = list === undefined ? JSON.parse(choices) : [];
  const about = { id: `${form.id}:${name}`, ariaLabel: name, autocomplete: "off", spellcheck: false };
  const field = made(options.length ? "select" : "input", about);
  for (const text of options.length ? ["", ...options] : []) field.add(new Option(text));
  return field;
}

function textsOf(row) {
  const text = row.querySelector("input, select").value.trim();
  return text === "" ? [] : "list" in row.dataset ? text.split(",").map((item) => item.trim()) : [text];
}

async function judge(row) {
  const { pattern, least, most } = row.dataset;
  const texts = textsOf(row);
  if (texts.some((text) => (least && !(Number(text) >= least)) || (most && !(Number(text) <= most)))) return false;
  if (!texts.length || !pattern) return true;
  return new Promise((resolve) => {
    const worker = new Worker(document.querySelector("script").src);
    const end = (fits) => (worker.terminate(), resolve(fits));
    worker.onmessage = ({ data }) => end(data);
    worker.onerror = () => end(true);
    setTimeout(() => end(true), PATIENCE);
    worker.postMessage({ pattern, texts });
  });
}

function compose(code, words = []) {
  const { start, from } = code.dataset;
  const { address, root } = document.body.dataset;
  const here = location.protocol.startsWith("http") ? new URL(root, location).href.replace(/\/$/, "") : "CHANNEL";
  code.textContent = [start, ...words, ...(from ? [from + quote(address || here)] : [])].join(" ");
}

function quote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

function addCopy(pre) {
  const button = made("button", { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(pre);
    await navigator.clipboard?.writeText(pre.textContent.trimEnd()); // over plain http, what is selected can be copied
    button.textContent = navigator.clipboard ? "Copied" : "Selected";
  });
  pre.after(button);
}

function made(tag, about) {
  return Object.assign(document.createElement(tag), about);
}
