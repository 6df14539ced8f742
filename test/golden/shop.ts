/** A small project that agents work on; nothing in it runs. */
export const SHOP: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
  "README.md": "# Shop\n\nPrices, discounts and baskets.\n",
  "src/pricing.ts": `/** The price after a discount in percent. */
export function discounted(price: number, percent: number): number {
  return price - price * percent;
}

/** Rounds to cents. */
export function rounded(price: number): number {
  return Math.round(price * 100) / 100;
}
`,
  "src/basket.ts": `import { discounted } from "./pricing.ts";

// TODO: taxes
export function total(prices: number[]): number {
  console.log(prices);
  try {
    return prices.reduce((sum, price) => sum + discounted(price, 0), 0);
  } catch {}
  return 0;
}
`,
  "test/pricing.test.ts": `import assert from "node:assert/strict";
import { test } from "node:test";
import { discounted } from "../src/pricing.ts";

test("ten percent off", () => {
  assert.equal(discounted(100, 10), 90);
});

test("no discount changes nothing", () => {
  assert.equal(discounted(80, 0), 80);
});
`,
};
