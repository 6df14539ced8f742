import { expect, test } from "vitest";
import type { ListedChange } from "./read-diff.ts";
import { reportReview } from "./reviewer.ts";

const nothing = { about: "the last commit", files: [], findings: [], cut: false, faults: [] };
const change = (path: string, kind: ListedChange["kind"]): ListedChange => ({
  path,
  kind,
  added: 1,
  removed: 0,
});

test("a change that could have been read and was not is never said to hold nothing", () => {
  const changed = [change("a.png", "binary"), change("a.ts", "text")];
  const report = reportReview({ ...nothing, changed });
  expect(report).toContain("was read, so that nothing was reviewed");
  expect(report).toContain("Not looked at: a.png, a.ts.");
  expect(reportReview({ ...nothing, changed: changed.slice(0, 1) })).toContain("no file of it holds text");
});
