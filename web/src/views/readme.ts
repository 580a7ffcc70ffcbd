/** A README as HTML: whatever it holds, it runs nothing, loads nothing, and leads nowhere unasked. */
import DOMPurify from "dompurify";
import { htmlOf } from "../markup/client";
import { h } from "./ui";

const LONGEST = 500_000; // characters of a README

const ALLOWED = {
  ALLOWED_TAGS: ["a", "blockquote", "br", "code", "dd", "del", "details", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "kbd", "li", "ol", "p", "pre", "s", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"],
  ALLOWED_ATTR: ["href", "title", "align", "start", "open"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
  RETURN_DOM_FRAGMENT: true,
} as const;

export async function readme(text: string): Promise<Node> {
  const html = text.length > LONGEST ? undefined : await htmlOf({ text, language: "markdown" });
  return html === undefined ? plain(text) : harmless(html);
}

/** What would take too long as HTML. */
function plain(text: string): Node {
  const pre = h("pre", { tabindex: 0, role: "group", "aria-label": "Text of README.md" }, text.slice(0, LONGEST));
  return h("div", {}, h("p", { class: "note some" }, "This README is too long or too intricate to be shown as Markdown. Its text:"), pre);
}

function harmless(html: string): DocumentFragment {
  const found = DOMPurify.sanitize(html, ALLOWED as unknown as { RETURN_DOM_FRAGMENT: true });
  for (const link of found.querySelectorAll("a")) settled(link);
  for (const block of found.querySelectorAll("pre, table")) {
    block.setAttribute("tabindex", "0"); // wide ones are scrolled, also by keys
    if (block.localName === "pre") block.setAttribute("role", "group"), block.setAttribute("aria-label", "Commands or text");
  }
  for (const cell of found.querySelectorAll("th")) {
    if (!cell.textContent?.trim()) cell.replaceWith(document.createElement("td")); // it heads nothing
  }
  return found;
}

/** Links lead to other sites in a new tab; those within the README would change the page's own address. */
function settled(link: HTMLAnchorElement): void {
  if (link.getAttribute("href")?.startsWith("#")) link.removeAttribute("href");
  else {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
  }
}

/** HTML that a highlighter made, as elements; its text stays what it was. */
export function fragment(html: string): DocumentFragment {
  return DOMPurify.sanitize(html, { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true });
}
