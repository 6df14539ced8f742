import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { World } from "../cli/world.ts";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { type MadeRun, writeSession } from "../fixtures/recorded-session.ts";
import { expectQuiet, serve, visit } from "./served.ts";
import { makeTeam } from "./team.ts";
import { go } from "./walk.ts";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await startBrowser();
});
afterAll(() => browser?.close());

type Made = Readonly<Record<string, readonly MadeRun[]>>;

async function record(world: World, sessions: Made): Promise<void> {
  mkdirSync(world.data, { recursive: true });
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  for (const [name, runs] of Object.entries(sessions))
    await writeSession(record, {
      sessionId: `ses_${name}`,
      title: `The ${name} one`,
      project: world.project,
      runs,
    });
  await record.close();
}

const quick: MadeRun = {
  agent: "main",
  task: "fix the cart",
  from: 0,
  to: 9_000,
  answer: "All three tests pass.",
  files: ["src/a.ts"],
  runs: [
    { agent: "coder", task: "edit it", from: 1_000, to: 4_000 },
    { agent: "tester", task: "try it", from: 5_000, to: 8_000, status: "failed", error: "1 of 3 failed" },
  ],
};
const thorough: MadeRun = {
  ...quick,
  to: 18_000,
  answer: "All four tests pass.",
  files: ["src/a.ts", "src/b.ts"],
  costUsd: null,
  runs: [
    { agent: "planner", task: "think", from: 200, to: 900 },
    { agent: "coder", task: "edit it with care", from: 1_000, to: 9_000 },
    { agent: "tester", task: "try it", from: 10_000, to: 17_000 },
  ],
};
const plain: MadeRun = { agent: "main", task: "something else", from: 0, to: 1_000 };
const THREE = { plain: [plain], quick: [quick], thorough: [thorough] };

const box = (page: Page, name: string) => page.getByRole("checkbox", { name: `Tick The ${name} one` });
/** What stands beside the name of a figure: A, B, and what is between them. */
async function figure(page: Page, name: string): Promise<string[]> {
  const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  return (await row.getByRole("cell").allInnerTexts()).map((text) => text.replace(/^[AB]\s+/, ""));
}

describe.skipIf(!hasBrowser)("comparing two sessions", () => {
  test("begins with exactly two ticks in the list, and shows the differences", async () => {
    await using world = new World();
    await record(world, THREE);
    await using served = await serve(world);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await go(page, "/runs");
    const before = await page.getByRole("row", { name: /The plain one/ }).boundingBox();
    await box(page, "quick").check();
    const bar = page.getByRole("region", { name: "Ticked sessions" });
    await bar.getByText("1 ticked – tick another to compare").waitFor();
    expect(await bar.getByRole("button", { name: "Compare" }).isDisabled()).toBe(true);
    await box(page, "thorough").check();
    await box(page, "plain").check();
    await bar.getByText("3 ticked", { exact: true }).waitFor();
    expect(await bar.getByRole("button", { name: "Compare" }).isDisabled()).toBe(true);
    await box(page, "plain").uncheck();
    expect(await page.getByRole("row", { name: /The plain one/ }).boundingBox()).toEqual(before);
    await bar.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL(/\/compare\?a=ses_quick&b=ses_thorough/);
    await page.getByRole("treegrid", { name: "Runs of both sessions" }).waitFor();
    expect(await figure(page, "Task")).toEqual(["fix the cart", "fix the cart", "same"]);
    expect(await figure(page, "Time at work")).toEqual(["9.0 s", "18 s", "+9.0 s (+100 %)"]);
    expect(await figure(page, "Cost")).toEqual(["$0.05", "unknown", "unknown"]);
    expect(await figure(page, "Runs")).toEqual(["3", "4", "+1 (+33 %)"]);
    expect(await figure(page, "Runs that failed")).toEqual(["1", "0", "−1 (−100 %)"]);
    expect(await figure(page, "Files")).toEqual(["1 file", "2 files", "1 only in B"]);
    await page.goBack();
    await bar.getByText("2 ticked", { exact: true }).waitFor();
    expect(await box(page, "quick").isChecked()).toBe(true);
    await bar.getByRole("button", { name: "Untick The quick one" }).click();
    expect(new URL(page.url()).search).toBe("?ticked=ses_thorough");
    expectQuiet(visitor);
  });

  test("pairs the runs, leads to either trace, marks what the answers do not share, and swaps", async () => {
    await using world = new World();
    await record(world, THREE);
    await using served = await serve(world);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await go(page, "/compare?a=ses_quick&b=ses_thorough");
    const grid = page.getByRole("treegrid", { name: "Runs of both sessions" });
    const names = async () =>
      Promise.all((await grid.getByRole("row").all()).map((row) => row.getAttribute("aria-label")));
    await grid.getByRole("row", { name: /planner/ }).waitFor();
    expect((await names()).slice(1)).toEqual([
      "main, fix the cart, A: done, B: done",
      "planner, think, A: no such run, B: done",
      "coder, edit it, A: done, B: done",
      "tester, try it, A: failed, B: done",
    ]);
    await grid.getByText("edit it with care").waitFor();
    await page.getByRole("button", { name: "Differences" }).click();
    await grid.getByRole("row", { name: /coder/ }).waitFor({ state: "detached" });
    expect((await names()).slice(1).map((name) => name?.split(",")[0])).toEqual([
      "main",
      "planner",
      "tester",
    ]);
    await page.getByRole("button", { name: "Words" }).click();
    await page.locator("del", { hasText: /^three$/ }).waitFor();
    await page.locator("ins", { hasText: /^four$/ }).waitFor();
    await page.getByRole("button", { name: "Swap" }).click();
    await page.locator("del", { hasText: /^four$/ }).waitFor();
    expect(await figure(page, "Runs")).toEqual(["4", "3", "−1 (−25 %)"]);
    expect(new URL(page.url()).searchParams.get("a")).toBe("ses_thorough");
    await grid
      .getByRole("row", { name: /tester/ })
      .getByRole("link")
      .nth(1)
      .click();
    await page.waitForURL(/\/trace\/ses_quick\?run=run_ses_quick_0_1/);
    expectQuiet(visitor);
  });

  test("works with the keyboard alone, from the list to a run in the other's trace", async () => {
    await using world = new World();
    await record(world, THREE);
    await using served = await serve(world);
    const { page, faults } = await visit(browser, served);
    await go(page, "/runs");
    await box(page, "quick").waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("c");
    await page.getByText("Tick two sessions first").waitFor();
    await press("j", " ");
    await page.getByText("1 ticked – tick another").locator("visible=true").first().waitFor();
    await press("?");
    await page
      .getByRole("dialog", { name: "Keys" })
      .getByText("Tick the session, to compare two or delete any")
      .waitFor();
    await press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await press("j", " ", "c");
    await page.waitForURL(/\/compare\?a=ses_thorough&b=ses_quick/);
    await page.getByRole("row", { name: /planner/ }).waitFor();
    await press("s");
    await page.waitForURL(/a=ses_quick&b=ses_thorough/);
    await press("j", "j");
    expect(await page.locator(":focus").getAttribute("aria-label")).toMatch(/^planner/);
    await press("h", "h");
    expect(await page.locator(":focus").getAttribute("aria-expanded")).toBe("false");
    await press("l", "l", "b");
    await page.waitForURL(/\/trace\/ses_thorough\?run=run_ses_thorough_0_0/);
    expect(faults).toEqual([]);
  });

  test("says which session is missing, and asks for another one", async () => {
    await using world = new World();
    await record(world, THREE);
    await using served = await serve(world);
    const { page, faults } = await visit(browser, served);
    await go(page, "/compare?a=ses_quick&b=ses_nobody");
    await page.getByRole("alert").getByText("no session 'ses_nobody'").waitFor();
    await page.getByRole("link", { name: "Tick another session" }).click();
    await page.getByText("1 ticked – tick another").locator("visible=true").first().waitFor();
    expect(await box(page, "quick").isChecked()).toBe(true);
    await go(page, "/compare?a=ses_quick&b=ses_quick");
    await page.getByText("Both are the same session").waitFor();
    await go(page, "/compare?a=%2F..%2Fx&b=%zz%22");
    await page.getByRole("alert").first().waitFor();
    await go(page, "/compare");
    await page.getByText("It takes two to compare").waitFor();
    expect(faults).toEqual([]);
  });

  test("tells apart two agents that ended the same way, and two missing answers from two equal ones", async () => {
    await using world = new World();
    const silent: MadeRun = { agent: "main", task: "say nothing", from: 0, to: 1_000, answer: "" };
    await record(world, { first: [silent], second: [{ ...silent, agent: "lead" }] });
    await using served = await serve(world);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await go(page, "/compare?a=ses_first&b=ses_second&runs=differences&answers=words");
    await page.getByRole("row", { name: "main, say nothing, A: done, B: done" }).waitFor();
    await page.getByText("Both ended without an answer.").waitFor();
    expectQuiet(visitor);
  });

  test("shows no other prompt's answer while one is on its way", async () => {
    await using world = new World();
    const prompt = (task: string, from: number): MadeRun => ({
      agent: "main",
      task,
      from,
      to: from + 1_000,
      answer: `About ${task}.`,
    });
    const both = [prompt("apples", 0), prompt("pears", 2_000)];
    await record(world, { first: both, second: both });
    await using served = await serve(world);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await go(page, "/compare?a=ses_first&b=ses_second");
    const answer = page.getByRole("region", { name: "Answer of A" });
    await answer.getByText("About pears.").waitFor();
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route(/\/api\/runs\//, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole("combobox", { name: "To which prompt" }).selectOption("1");
    await answer.getByRole("status", { name: "Loading the answer" }).waitFor();
    expect(await answer.textContent()).not.toContain("pears");
    letGo();
    await answer.getByText("About apples.").waitFor();
    expectQuiet(visitor);
  });

  test("follows a session that is still at work", async () => {
    await using team = await makeTeam();
    await record(team.world, THREE);
    await using served = await serve(team.world, 0, ["--agent", "lead"]);
    const { page } = await visit(browser, served);
    const answer = await page.request.post(`${served.url}/api/sessions`, {
      data: { agent: "lead", task: "look around" },
      headers: { origin: served.url },
    });
    const { sessionId } = (await answer.json()) as { sessionId: string };
    await go(page, `/compare?a=ses_quick&b=${sessionId}`);
    await page.getByRole("row", { name: /^leaf, .*south.*B: running/ }).waitFor();
    await page.getByText("It has not ended yet.").waitFor();
    team.leaves.release();
    await page.getByRole("region", { name: "Answer of B" }).getByText("Both sides are").waitFor();
    await page.getByRole("row", { name: /^main, .*B: done/ }).waitFor();
    expect((await figure(page, "Status")).slice(0, 2)).toEqual(["done", "done"]);
  });

  test("draws only what is in sight of thousands of runs", async () => {
    await using world = new World();
    const many = (skipped: number): MadeRun => ({
      agent: "main",
      task: "everything",
      from: 0,
      to: 90_000,
      runs: Array.from({ length: 1_500 }, (_, at) => ({
        agent: "coder",
        task: `part ${at}`,
        from: at,
        to: 80_000 + at,
      })).filter((_, at) => at !== skipped),
    });
    await record(world, { left: [many(3)], right: [many(1_400)] });
    await using served = await serve(world);
    const { page } = await visit(browser, served);
    await go(page, "/compare?a=ses_left&b=ses_right");
    const grid = page.getByRole("treegrid", { name: "Runs of both sessions" });
    await grid.getByRole("row", { name: /part 3,.*A: no such run/ }).waitFor();
    expect(await grid.getAttribute("aria-rowcount")).toBe("1502");
    expect(await grid.getByRole("row").count()).toBeLessThan(80);
    await page.keyboard.press("j");
    await page.keyboard.press("End");
    await grid.getByRole("row", { name: /part 1499,/ }).waitFor();
    await page.getByRole("button", { name: "Differences" }).click();
    await grid.getByRole("row", { name: /part 1400,.*B: no such run/ }).waitFor();
    expect(await grid.getAttribute("aria-rowcount")).toBe("4");
  });
});
