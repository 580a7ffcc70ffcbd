import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mock, test } from "node:test";
import { judged, type Case, type Read } from "./trust";

declare const CASES: string;

for (const name of readdirSync(CASES)) {
  test(name, async () => {
    const read: Read = async (path) => {
      const file = join(CASES, name, path);
      return existsSync(file) ? new Uint8Array(readFileSync(file)) : undefined;
    };
    const said = JSON.parse(readFileSync(join(CASES, name, "case.json"), "utf8")) as Case;
    mock.timers.enable({ apis: ["Date"], now: Date.parse(said.now) });
    const found = await judged(read, said);
    mock.timers.reset();
    if (said.accepts) assert.deepEqual(found, { head: said.head, signers: said.signers });
    else assert.equal(typeof found, "string", "the channel was accepted");
    if (process.env["SHOW"]) console.log(name, found);
  });
}
