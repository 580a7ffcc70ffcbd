/** The page: opens its channel, and shows the view that its address names. */
import { IntegrityError } from "./errors";
import { openPage, settings, type Page } from "./page";
import { find } from "./views/find";
import { frame } from "./views/frame";
import { parseRoute, type Route } from "./views/route";
import { trust, ways } from "./views/trust";
import { h, problem, unloaded, waiting } from "./views/ui";

const given = settings();
const main = document.getElementById("main") as HTMLElement;
let opened: Promise<Page> | undefined;
let shown = 0;

/** Opens the channel once; after a failure, or once the key changed, again. */
function page(): Promise<Page> {
  opened ??= openPage(given);
  opened.catch(() => (opened = undefined));
  return opened;
}

function reopen(): void {
  opened = undefined;
  void show();
}

async function show(): Promise<void> {
  const route = parseRoute(location.hash);
  const turn = ++shown;
  main.setAttribute("aria-busy", "true");
  const isCurrent = (): boolean => turn === shown;
  try {
    const found = await page();
    frame(found);
    if (isCurrent()) await view(route, found, isCurrent);
  } catch (error) {
    if (isCurrent()) failed(error, route);
  }
  if (isCurrent()) {
    main.setAttribute("aria-busy", "false");
    main.dataset["shown"] = location.hash;
  }
}

async function view(route: Route, found: Page, isCurrent: () => boolean): Promise<void> {
  if (route.view === "find") await find(main, found, route, isCurrent);
  else if (route.view === "trust") trust(main, found, reopen);
  else {
    if (!main.childElementCount) main.replaceChildren(waiting("Reading the package…"));
    const { look } = await import("./views/look").catch(unloaded);
    if (isCurrent()) await look(main, found, route, isCurrent);
  }
}

function failed(error: unknown, route: Route): void {
  document.title = given.title ? `Problem – ${given.title}` : "Problem";
  const again = document.createElement("button");
  again.textContent = "Try again";
  again.addEventListener("click", reopen);
  const isAboutTrust = error instanceof IntegrityError;
  main.replaceChildren(h("h1", {}, "This cannot be shown"), problem(error, again, ways(given, route, isAboutTrust, reopen)));
}

window.addEventListener("hashchange", () => {
  const before = document.title;
  void show().then(() => {
    if (document.title !== before) main.focus({ preventScroll: true });
  });
});
// An address of its own would be that of another view.
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("online", () => void show());
main.replaceChildren(waiting("Reading the channel…"));
void show();
