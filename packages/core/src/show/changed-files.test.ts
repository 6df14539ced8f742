import { expect, test } from "vitest";
import { showChangedFiles } from "./changed-files.ts";

test("the sum of a diff names each file, what it is unless it was modified, and all lines", () => {
  expect(
    showChangedFiles([
      { path: "a", kind: "modified", added: 3, removed: 1 },
      { path: "long", kind: "created", added: 2, removed: 0 },
      { path: "b", kind: "deleted", added: null, removed: null },
    ]),
  ).toEqual(["a    | +3 -1", "long | +2 -0 (created)", "b    | not text (deleted)", "3 files, +5 -1"]);
});
