/** A file's text with colors and numbers, a line by line, so that lines can be lit. */
import { htmlOf } from "../markup/client";
import { fragment } from "./readme";
import { h } from "./ui";

const LANGUAGES = new Map([["yaml", "yaml"], ["yml", "yaml"], ["Krmfile", "yaml"], ["json", "yaml"], ["py", "python"], ["sh", "bash"]]);
const MOST = 200_000; // characters that are colored
const LINES = 20_000; // that are shown
/** The classes of the style sheet, by the beginnings of highlight.js' own. */
const CLASSES: readonly [RegExp, string][] = [[/hljs-(?:attr|keyword|built_in|title)/, "k"], [/hljs-(?:string|number|literal|bullet)/, "t"], [/hljs-(?:comment|meta)/, "c"]];

/** Returns a block of code; line `n` is its child `n - 1`. Its colors come later. */
export function code(text: string, path: string, label: string): HTMLElement {
  const all = split(document.createTextNode(text));
  const lines = all.slice(0, LINES).map((line) => h("span", { class: "line" }, line, "\n"));
  const language = LANGUAGES.get(/[^./]+$/.exec(path)?.[0] ?? "");
  if (language && text.length <= MOST) void htmlOf({ text, language }).then((html) => html !== undefined && color(lines, split(fragment(html))));
  const rest = all.length > LINES && h("p", { class: "note some" }, `These are the first ${LINES.toLocaleString("en")} of ${all.length.toLocaleString("en")} lines.`);
  return h("pre", { class: "code", tabindex: 0, role: "group", "aria-label": label }, h("code", {}, lines), rest);
}

function color(lines: readonly HTMLElement[], colored: readonly DocumentFragment[]): void {
  if (colored.length !== lines.length) return;
  lines.forEach((line, place) => line.replaceChildren(colored[place] ?? "", "\n"));
}

/** Cuts elements at line ends; an element that spans lines has a part on each. */
function split(root: Node): DocumentFragment[] {
  const lines = [document.createDocumentFragment()];
  const walk = (node: Node, kind: string): void => {
    if (node instanceof Text) {
      node.data.split("\n").forEach((part, place) => {
        if (place) lines.push(document.createDocumentFragment());
        if (part) lines.at(-1)?.append(kind ? h("span", { class: kind }, part) : part);
      });
    } else {
      const own = node instanceof Element ? (CLASSES.find(([pattern]) => pattern.test(node.className))?.[1] ?? kind) : kind;
      node.childNodes.forEach((child) => walk(child, own));
    }
  };
  walk(root, "");
  if (lines.length > 1 && !lines.at(-1)?.childNodes.length) lines.pop();
  return lines;
}
