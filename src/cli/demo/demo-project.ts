import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A small shop with one mistake in it, which a test shows and a reviewer can point to. */
const FILES: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "corner-shop",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  "README.md": `# Corner shop

Adds up carts, works out discounts and prints receipts.
`,
  "src/discount.js": `/** The discount of a cart in percent: regular customers get 5, and carts above 100 get 10 more. */
export function discountPercent({ total, isRegular }) {
  return (isRegular ? 5 : 0) + (total > 100 ? 10 : 0);
}
`,
  "src/cart.js": `import { discountPercent } from "./discount.js";

/** The price of a cart after its discount. */
export function priceOf(cart) {
  const total = cart.items.reduce((sum, item) => sum + item.price * item.count, 0);
  try {
    return total - total * discountPercent({ total, isRegular: cart.isRegular });
  } catch (error) {}
}
`,
  "src/receipt.js": `import { priceOf } from "./cart.js";

/** Prints one line for each item, and the price to pay. */
export function printReceipt(cart) {
  const lines = cart.items.map((item) => \`\${item.count} x \${item.name}\`);
  return [...lines, \`to pay: \${priceOf(cart)}\`].join("\\n");
}
`,
  "test/cart.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { priceOf } from "../src/cart.js";

test("a small cart of a new customer has no discount", () => {
  assert.equal(priceOf({ items: [{ price: 10, count: 2 }], isRegular: false }), 20);
});

test("a regular customer pays five percent less", () => {
  assert.equal(priceOf({ items: [{ price: 10, count: 2 }], isRegular: true }), 19);
});
`,
};

/** A folder that is gone when it is no longer needed. */
export type DemoProject = { dir: string; [Symbol.dispose](): void };

/** Makes the example in a folder of its own. */
export function makeDemoProject(): DemoProject {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "retinue-demo-")));
  const lead = readFileSync(new URL("./prompts/demo-quality-lead.md", import.meta.url), "utf8");
  const files = { ...FILES, ".retinue/agents/quality-lead.md": lead };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}
