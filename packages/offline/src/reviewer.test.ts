import { expect, test } from "vitest";
import type { ChangeSize } from "./read-diff.ts";
import { reportUnread } from "./reviewer.ts";

const about = { about: "the last commit", commit: undefined, faults: [] };
const size = (path: string, kind: ChangeSize["kind"]): ChangeSize => ({ path, kind, added: 1, removed: 0 });

test("a change that could have been read and was not is never said to hold nothing", () => {
  const sizes = [size("a.png", "binary"), size("a.ts", "text")];
  const report = reportUnread({ ...about, sizes });
  expect(report).toContain("was read, so that nothing was reviewed");
  expect(report).toContain("Not looked at: a.png, a.ts.");
  expect(reportUnread({ ...about, sizes: sizes.slice(0, 1) })).toContain("no file of it holds text");
});
