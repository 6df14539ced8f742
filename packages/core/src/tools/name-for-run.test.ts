import { expect, test } from "vitest";
import { nameForRun } from "./name-for-run.ts";

test.each([
  ["expanded_corpus.json", "expanded_corpus-12345678.json"],
  ["work_products/night.trains.html", "work_products/night.trains-12345678.html"],
  ["work_products/*.html", "work_products/*-12345678.html"],
  ["v1.2/report", "v1.2/report-12345678"],
  [".hidden", ".hidden-12345678"],
])("%s of another run becomes %s", (path, own) => {
  expect(nameForRun(path, "run_abcd12345678")).toBe(own);
});
