// Builds the page's files into the Python package: `node build.mjs [OUT]`; `node build.mjs test OUT` bundles the tests.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

const SITE = "../builder/packyard/sharing/web/site";
const COMMON = { bundle: true, minify: true, target: ["es2022"], charset: "utf8", legalComments: "none", logLevel: "warning" };
const LIBRARIES = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;

async function outputs(options) {
  const { outputFiles, metafile } = await build({ ...COMMON, ...options, write: false, metafile: true, outdir: "out" });
  return { files: new Map(outputFiles.map((file) => [basename(file.path), file.contents])), metafile };
}

/** What the workers' scripts are, as texts by name: the only way to have them in a page that is a single file. */
function workerTexts(texts) {
  return {
    name: "worker-text",
    setup(made) {
      made.onResolve({ filter: /^worker-text\// }, ({ path }) => ({ path, namespace: "worker" }));
      made.onLoad({ filter: /.*/, namespace: "worker" }, ({ path }) => ({ contents: texts[basename(path)] ?? "", loader: "text" }));
    },
  };
}

async function site(out) {
  const entryPoints = { judge: "src/judge/worker.ts", markup: "src/markup/worker.ts" };
  const workers = await outputs({ entryPoints, entryNames: "[name]-[hash]", format: "iife" });
  const named = (worker) => [...workers.files].find(([file]) => file.startsWith(`${worker}-`));
  const texts = Object.fromEntries(Object.keys(entryPoints).map((each) => [each, new TextDecoder().decode(named(each)[1])]));
  const define = { JUDGE: JSON.stringify(`web/${named("judge")[0]}`), MARKUP: JSON.stringify(`web/${named("markup")[0]}`) };
  const page = await outputs({
    entryPoints: { app: "src/main.ts", style: "src/style.css" },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    format: "esm",
    splitting: true,
    define: { ...define, SINGLE: "false" },
    plugins: [workerTexts({})],
  });
  const single = await outputs({
    entryPoints: { single: "src/main.ts" },
    format: "iife",
    define: { ...define, SINGLE: "true" },
    plugins: [workerTexts(texts)],
  });
  const inline = await outputs({ entryPoints: { early: "src/early.ts", first: "src/first.css" }, format: "iife" });
  const [early, first] = ["early.js", "first.css"].map((file) => new TextDecoder().decode(inline.files.get(file)).trim());
  const files = new Map([...page.files, ...workers.files]);
  const name = (start) => [...files.keys()].find((each) => each.startsWith(start));
  const html = (await readFile("src/index.html", "utf8"))
    .replace("EARLYHASH", hash(early))
    .replace("EARLY", () => early)
    .replace("FIRSTHASH", hash(first))
    .replace("FIRST", () => first)
    .replaceAll("STYLE", `web/${name("style-")}`)
    .replace("PRELOADS", preloads(page.metafile, name("app-")))
    .replace("APP", `web/${name("app-")}`);
  await rm(out, { recursive: true, force: true });
  await mkdir(join(out, "web"), { recursive: true });
  for (const [file, bytes] of files) await writeFile(join(out, "web", file), bytes);
  await writeFile(join(out, "index.html"), html);
  await writeFile(join(out, "single.js"), single.files.get("single.js"));
  await writeFile(join(out, "LICENSES.txt"), await licences([page.metafile, workers.metafile, single.metafile]));
}

/** As policies name what stands in a page itself. */
function hash(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** The scripts that the first one imports, so that browsers ask for all of them at once. */
function preloads({ outputs }, first) {
  const found = new Set();
  const walk = (path) => {
    for (const { path: other, kind } of outputs[path].imports) {
      if (kind !== "import-statement" || found.has(other)) continue;
      found.add(other);
      walk(other);
    }
  };
  walk(Object.keys(outputs).find((path) => path.endsWith(first)));
  return [...found].map((path) => `<link rel="modulepreload" href="web/${basename(path)}">`).join("\n");
}

async function licences(metafiles) {
  const paths = metafiles.flatMap((each) => Object.keys(each.inputs));
  const names = [...new Set(paths.map((path) => LIBRARIES.exec(path)?.[1]).filter(Boolean))].sort();
  const texts = await Promise.all(names.map(licence));
  return `The page's scripts contain these libraries.\n\n${texts.join("\n\n")}`;
}

async function licence(name) {
  const folder = join("node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? await readFile(join(folder, file), "utf8") : "";
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

async function tests(out) {
  const names = (await readdir("test")).filter((name) => /^(?:.*\.test|answers|verdicts|trust)\.ts$/.test(name));
  const entryPoints = names.map((name) => join("test", name));
  await build({ ...COMMON, minify: false, entryPoints, outdir: out, format: "esm", outExtension: { ".js": ".mjs" },
    // as browsers get the libraries
    platform: "neutral", mainFields: ["browser", "module", "main"], conditions: ["browser"], loader: { ".yaml": "text" },
    define: { SINGLE: "false", JUDGE: `""`, MARKUP: `""`, CASES: JSON.stringify(resolve("../tests/cases/trust")) }, external: ["worker-text/*", "node:*"] });
}

const [first, second] = process.argv.slice(2);
await (first === "test" ? tests(second) : site(first ?? SITE));
