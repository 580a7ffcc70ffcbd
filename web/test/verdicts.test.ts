import assert from "node:assert/strict";
import { test } from "node:test";
import { differences } from "./verdicts";

for (const [kind, found] of differences()) {
  test(`${kind} are judged as packyard judges them`, () => assert.deepEqual(found, []));
}
