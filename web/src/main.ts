/** The page: opens its channel, and shows the view that its address names. */
import { openPage, settings, type Page } from "./page";
import { find } from "./views/find";
import { frame } from "./views/frame";
import { parseRoute, type Route } from "./views/route";
import { problem, waiting } from "./views/ui";

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
  if (route.view === "main") return;
  const turn = ++shown;
  const isCurrent = (): boolean => turn === shown;
  try {
    const found = await page();
    frame(found);
    if (isCurrent()) await view(route, found, isCurrent);
  } catch (error) {
    if (isCurrent()) await failed(error, route);
  }
}

async function view(route: Route, found: Page, isCurrent: () => boolean): Promise<void> {
  if (route.view === "find") await find(main, found, route, isCurrent);
  else if (route.view === "trust") (await import("./views/trust")).trust(main, found, reopen);
  else if (route.view === "package") {
    if (!main.childElementCount) main.replaceChildren(waiting("Reading the package…"));
    const { look } = await import("./views/look");
    if (isCurrent()) await look(main, found, route, isCurrent);
  }
}

async function failed(error: unknown, route: Route): Promise<void> {
  document.title = "Problem";
  const again = document.createElement("button");
  again.textContent = "Try again";
  again.addEventListener("click", reopen);
  const { ways } = await import("./views/trust");
  main.replaceChildren(problem(error, again, ways(given, route, reopen)));
}

window.addEventListener("hashchange", () => {
  const before = document.title;
  void show().then(() => {
    if (document.title !== before) main.focus({ preventScroll: true });
  });
});
window.addEventListener("online", () => void show());
main.replaceChildren(waiting("Reading the channel…"));
void show();
