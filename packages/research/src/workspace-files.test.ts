import fc from "fast-check";
import { expect, test } from "vitest";
import { observe } from "./workspace-files.ts";

function pathFor(about: string): string {
  let seen = "";
  const observed = (path: string) => {
    seen = path;
  };
  observe({ rowId: 42, observed }, { folder: "search_results", about, value: {} });
  return seen;
}

test("a file is named by its row and a few words", () => {
  expect(pathFor("What's “Durable” Stórage?")).toBe("search_results/000042-what-s-durable-sto-rage.json");
  expect(pathFor("数据")).toBe("search_results/000042.json");
});

test("no words lead out of the folder", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (about) => {
      expect(pathFor(about)).toMatch(/^search_results\/000042(?:-[a-z0-9-]{1,48})?\.json$/);
    }),
  );
});
