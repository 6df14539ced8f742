import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { World } from "../cli/world.ts";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { writeSession } from "../fixtures/recorded-session.ts";
import { expectQuiet, serve, visit } from "./served.ts";
import { go } from "./walk.ts";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Two researchers at the same time, then a coder whose tester failed. */
async function makeRecord(world: World): Promise<void> {
  mkdirSync(world.data, { recursive: true });
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  await writeSession(record, {
    sessionId: "ses_traced",
    title: "Three parts",
    project: world.project,
    runs: [
      {
        agent: "main",
        task: "Three parts",
        from: 0,
        to: 9_000,
        answer: "All **three** are done.",
        runs: [
          { agent: "researcher", task: "look left", from: 1_000, to: 4_000, answer: "Left is clear." },
          { agent: "researcher", task: "look right", from: 1_200, to: 4_500, answer: "Right is clear." },
          {
            agent: "coder",
            task: "fix it",
            from: 5_000,
            to: 8_500,
            calls: [{ tool: "read", input: { path: "a.ts" }, from: 5_100, to: 5_200, output: "one line" }],
            runs: [
              {
                agent: "tester",
                task: "try it",
                from: 6_000,
                to: 8_000,
                status: "failed",
                error: "1 of 3 failed",
              },
            ],
          },
        ],
      },
    ],
  });
  await record.close();
}

describe.skipIf(!hasBrowser)("the trace", () => {
  test("draws the tree with its bars, and parallel branches in lanes of their own", async () => {
    await using world = new World();
    await makeRecord(world);
    await using served = await serve(world);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await go(page, "/trace/ses_traced");
    const tree = page.getByRole("treegrid", { name: "Runs as a tree" });
    await tree.getByRole("row", { name: /^tester, failed, try it/ }).waitFor();
    const levels = await Promise.all(
      (await tree.getByRole("row").all()).map((row) => row.getAttribute("aria-level")),
    );
    expect(levels.filter(Boolean)).toEqual(["1", "2", "2", "2", "3"]);
    await page.getByRole("button", { name: "Lanes" }).click();
    const place = (task: string) => page.getByRole("button", { name: new RegExp(task) }).boundingBox();
    const [left, right, coder] = [await place("look left"), await place("look right"), await place("fix it")];
    expect(left?.y).not.toBe(right?.y);
    expect((left?.x ?? 0) + (left?.width ?? 0)).toBeGreaterThan(right?.x ?? 0);
    expect(coder?.x).toBeGreaterThan((right?.x ?? 0) + (right?.width ?? 0) - 1);
    expectQuiet(visitor);
  });

  test("jumps to the first failure and shows everything about a run", async () => {
    await using world = new World();
    await makeRecord(world);
    await using served = await serve(world);
    const { page } = await visit(browser, served);
    await go(page, "/trace/ses_traced");
    await page.getByRole("button", { name: /Go to the failure/ }).click();
    await page.getByText("1 of 3 failed").first().waitFor();
    await page.getByRole("row", { name: /^coder, done, fix it/ }).click();
    for (const [tab, text] of [
      ["Prompt", "fix it"],
      ["Tools", "read"],
      ["Raw", "request_content"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("tabpanel", { name: tab }).getByText(text).first().waitFor();
    }
    await page.getByRole("row", { name: /^main, done/ }).click();
    await page.getByRole("tab", { name: "Result" }).click();
    await page.getByRole("tabpanel", { name: "Result" }).getByText("three").first().waitFor();
  });
});
