import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createBlobStore } from "../record/blob-store.ts";
import type { FileState } from "../schema/change.ts";
import { createPatches } from "./patch.ts";

const folder = mkdtempSync(join(tmpdir(), "retinue-patch-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const blobs = createBlobStore(folder);

const FILE = 0o100644;
const FOLDER: FileState = { mode: 0o040755, hash: "" };

async function stateOf(content: string | Buffer, mode = FILE): Promise<FileState> {
  return { mode, hash: await blobs.put(Buffer.from(content), false) };
}

/** The one patch between two states of `f`. */
async function patchOf(before: FileState, after: FileState) {
  const [patch] = await createPatches([{ path: "f", before, after }], blobs);
  return patch;
}

test("a new file, a change and a removal are written as git writes them", async () => {
  const [one, two] = [await stateOf("a\nb\n"), await stateOf("a\nc\n")];
  expect(await patchOf(null, one)).toMatchObject({
    kind: "created",
    text: "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b",
  });
  expect(await patchOf(one, two)).toMatchObject({
    kind: "modified",
    added: 1,
    removed: 1,
    text: "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c",
  });
  expect(await patchOf(two, null)).toMatchObject({
    kind: "deleted",
    text: "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-c",
  });
});

test("a change of the mode alone names the old and the new one", async () => {
  const patch = await patchOf(await stateOf("a"), await stateOf("a", 0o100755));
  expect(patch?.text).toBe("diff --git a/f b/f\nold mode 100644\nnew mode 100755");
  expect(patch).toMatchObject({ added: 0, removed: 0 });
});

test("what is not text is only named: bytes with a NUL, and bytes that are no UTF-8", async () => {
  for (const bytes of [Buffer.from([2, 0, 3]), Buffer.from([0xff, 0xfe, 0x41])]) {
    const patch = await patchOf(await stateOf("text"), await stateOf(bytes));
    expect(patch).toMatchObject({ added: null, removed: null });
    expect(patch?.text).toBe("diff --git a/f b/f\nBinary files differ: f");
  }
});

test("files are listed by their path; folders are left out, also where a file became one", async () => {
  const text = await stateOf("a\n");
  const patches = await createPatches(
    [
      { path: "z", before: null, after: text },
      { path: "folder", before: null, after: FOLDER },
      { path: "a", before: text, after: FOLDER },
    ],
    blobs,
  );
  expect(patches.map(({ path, kind }) => `${path} ${kind}`)).toEqual(["a deleted", "z created"]);
});
