import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createBlobStore } from "../record/blob-store.ts";
import type { FileState } from "../schema/change.ts";
import { type Merged, mergeFile } from "./merge-file.ts";

const dataDir = mkdtempSync(join(tmpdir(), "retinue-merge-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const blobs = createBlobStore(join(dataDir, "blobs"));

async function stateOf(text: string | null, mode = 0o100644): Promise<FileState> {
  return text === null ? null : { mode, hash: await blobs.put(Buffer.from(text, "latin1"), false) };
}

async function merge(
  ours: string | null,
  before: string | null,
  after: string | null,
  modes: { ours?: number; before?: number; after?: number } = {},
): Promise<Merged> {
  const change = {
    path: "f",
    before: await stateOf(before, modes.before),
    after: await stateOf(after, modes.after),
  };
  return mergeFile(await stateOf(ours, modes.ours), change, { blobs, dataDir });
}

async function textOf(merged: Merged): Promise<string | null> {
  if (merged.kind !== "take") return merged.kind;
  return merged.state && (await blobs.get(merged.state.hash)).toString("latin1");
}

const BASE = "1\n2\n3\n4\n5\n6\n7\n8\n";

test.each([
  ["a file nobody else changed is taken as it is", BASE, BASE, "x", "x"],
  ["a new file is taken", null, null, "x", "x"],
  ["a deletion of what nobody changed is taken", BASE, BASE, null, null],
  ["the same change on both sides is no conflict", "x", BASE, "x", "same"],
  ["a deletion on both sides is no conflict", null, BASE, null, "same"],
  [
    "changes in different places go together",
    BASE.replace("1", "A"),
    BASE,
    BASE.replace("8", "B"),
    "A\n2\n3\n4\n5\n6\n7\nB\n",
  ],
  [
    "line ends of Windows survive",
    "1\r\n2\r\n3\r\n4\r\n5\r\n",
    "1\r\n2\r\n3\r\n4\r\n5\r\n",
    "1\r\n2\r\n3\r\n4\r\nX\r\n",
    "1\r\n2\r\n3\r\n4\r\nX\r\n",
  ],
  ["changes in the same place conflict", BASE.replace("4", "A"), BASE, BASE.replace("4", "B"), "conflict"],
  ["two files of one name conflict", "a", null, "b", "conflict"],
  ["a change of what was deleted conflicts", null, BASE, "x", "conflict"],
  ["a deletion of what was changed conflicts", "x", BASE, null, "conflict"],
  ["binary files that changed on both sides conflict", "a\0b", "a\0", "c\0", "conflict"],
])("%s", async (_, ours, before, after, expected) => {
  expect(await textOf(await merge(ours, before, after))).toBe(expected);
});

test("only the right to execute is taken from a copy, all other permissions are the project's", async () => {
  const private_ = { ours: 0o100640, before: 0o100644 };
  expect(await merge(BASE, BASE, "x", { ...private_, after: 0o100644 })).toMatchObject({
    state: { mode: 0o100640 },
  });
  expect(await merge(BASE, BASE, BASE, { ...private_, after: 0o100755 })).toMatchObject({
    state: { mode: 0o100750 },
  });
});

test("whatever both sides did, either everything of both is in the outcome or it is a conflict", async () => {
  const lines = fc.array(fc.constantFrom<string>("a", "b", "c"), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(lines, fc.nat(8), fc.nat(8), async (base, one, two) => {
      const text = (all: readonly string[]) => all.map((line) => `${line}\n`).join("");
      const put = (at: number, line: string) => text(base.toSpliced(Math.min(at, base.length), 0, line));
      const merged = await textOf(await merge(put(one, "OURS"), text(base), put(two, "THEIRS")));
      if (merged === "conflict")
        expect(Math.abs(Math.min(one, base.length) - Math.min(two, base.length))).toBeLessThan(2);
      else
        expect(
          merged
            ?.split("\n")
            .filter((line) => line === "OURS" || line === "THEIRS")
            .sort(),
        ).toEqual(["OURS", "THEIRS"]);
    }),
    { numRuns: 25, seed: 3 },
  );
});
