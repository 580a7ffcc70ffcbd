/** Workers: scripts that this page starts itself, past Trusted Types, by their addresses or, in a single file, by their texts. */
declare const SINGLE: boolean;

declare global {
  interface Window {
    readonly trustedTypes?: { createPolicy(name: string, rules: Rules): Rules };
  }
}

interface Rules {
  createScriptURL(text: string): string;
}

let policy: Rules | undefined;

export function start(place: string, text: string): Worker {
  const address = SINGLE ? URL.createObjectURL(new Blob([text], { type: "text/javascript" })) : new URL(place, document.baseURI).href;
  policy ??= window.trustedTypes?.createPolicy("packyard", { createScriptURL: (script) => script }) ?? { createScriptURL: (script) => script };
  return new Worker(policy.createScriptURL(address));
}
