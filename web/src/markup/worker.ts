// The worker that makes HTML of Markdown and of code: a stranger's text may take as long as it likes, in here.
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import python from "highlight.js/lib/languages/python";
import yaml from "highlight.js/lib/languages/yaml";
import { Marked, type Tokens } from "marked";

/** A text, and its language: `markdown`, or that of a program. */
export interface Asked {
  readonly text: string;
  readonly language: string;
}

const LONGEST = 4_000_000; // characters of HTML

hljs.registerLanguage("yaml", yaml);
hljs.registerLanguage("python", python);
hljs.registerLanguage("bash", bash);

const marked = new Marked({
  gfm: true,
  renderer: {
    // A picture would be a request to another host; its text stays.
    image: ({ text }: Tokens.Image) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  },
});

/** Answers with the HTML, which nobody has made harmless yet, or undefined where there is none. */
self.onmessage = ({ data }: MessageEvent<Asked>): void => self.postMessage(html(data));

function html({ text, language }: Asked): string | undefined {
  try {
    const found = language === "markdown" ? marked.parse(text, { async: false }) : hljs.highlight(text, { language, ignoreIllegals: true }).value;
    return found.length <= LONGEST ? found : undefined;
  } catch {
    return undefined; // nested too deeply
  }
}

self.postMessage(undefined); // it is there
