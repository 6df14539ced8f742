import { expect, test } from "vitest";
import { type Hits, isInPath, rankFiles, readQuery } from "./search-query.ts";

const hits = (pattern: string, counts: Record<string, number>): Hits => ({
  concept: { name: pattern, core: pattern, pattern, weight: 1 },
  counts: new Map(Object.entries(counts)),
});

test("of a question the paths, the exact names and the telling words are searched for", () => {
  const { paths, concepts } = readQuery("Find where `parseCart` in src/cart.ts handles the discount, please");
  expect(paths).toEqual(["src/cart.ts"]);
  expect(concepts.map(({ name, weight }) => [name, weight])).toEqual([
    ["parseCart", 3],
    ["discount", 1],
  ]);
});

test("a word is searched for by its stem and by what code calls the same thing", () => {
  const [concept] = readQuery("How are retries configured").concepts;
  expect(concept?.pattern).toMatch(/retr.*\|.*backoff/);
});

test("names are plain text even if they look like patterns", () => {
  const [concept] = readQuery("`a.b(c)*`").concepts;
  expect(new RegExp(`^(?:${concept?.pattern})$`).test("a.b(c)*")).toBe(true);
});

test("a file that has more of what was asked for comes first, sources before tests and generated files", () => {
  const ranked = rankFiles([
    hits("cart", { "src/cart.ts": 3, "test/cart.test.ts": 30, "package-lock.json": 90 }),
    hits("discount", { "src/cart.ts": 1, "src/price.ts": 5 }),
  ]);
  expect(ranked.map(({ path }) => path)).toEqual([
    "src/cart.ts",
    "src/price.ts",
    "test/cart.test.ts",
    "package-lock.json",
  ]);
});

test("a concept is in a path at the beginning of a name, also inside of camel case", () => {
  const { concept } = hits("cart", {});
  expect(["src/shopCart.ts", "cart/index.ts"].every((path) => isInPath(concept, path))).toBe(true);
  expect(isInPath(concept, "src/descartes.ts")).toBe(false);
});
