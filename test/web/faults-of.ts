import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { settle } from "./walk.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What is wrong with the page as it is, a line each; nothing is left out but what would need another page. */
export async function faultsOf(page: Page): Promise<string[]> {
  await settle(page);
  await page.evaluate(
    "Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished.catch(() => {})))",
  );
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(`${AXE};0`);
  const found: unknown = await page.evaluate(`axe.run(document, {
    resultTypes: ["violations"],
    rules: { "target-size": { enabled: true } },
  }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 4).map(({ html, failureSummary }) => id + ": " + html.slice(0, 300) + " " + failureSummary.slice(0, 300))))`);
  return found as string[];
}
