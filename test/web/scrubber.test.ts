import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { World } from "../cli/world.ts";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { writeSession } from "../fixtures/recorded-session.ts";
import { faultsOf } from "./faults-of.ts";
import { expectQuiet, type Served, serve, type Visitor, visit } from "./served.ts";
import { makeTeam } from "./team.ts";
import { settle } from "./walk.ts";

const STARTED_MS = Date.parse("2026-03-10T09:00:00Z");
const END_MS = 3_612_000;
const CODER = "run_ses_replayed_0_1";

let browser: Browser;
let world: World;
let served: Served;

/** A researcher, a coder whose tester failed, and a messenger that waited an hour for a person's answer. */
async function makeRecord(): Promise<void> {
  mkdirSync(world.data, { recursive: true });
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  await writeSession(record, {
    sessionId: "ses_replayed",
    title: "Fix it and tell Ruth",
    project: world.project,
    startedAtMs: STARTED_MS,
    runs: [
      {
        agent: "main",
        task: "Fix it and tell Ruth",
        from: 0,
        to: END_MS,
        answer: "All is **done**.",
        runs: [
          { agent: "researcher", task: "look around", from: 1_000, to: 4_000, answer: "It is in a.ts." },
          {
            agent: "coder",
            task: "fix it",
            from: 5_000,
            to: 8_500,
            answer: "One line was wrong.",
            calls: [
              { tool: "read", input: { path: "a.ts" }, from: 5_500, to: 5_700, output: "what stood there" },
              { tool: "edit", input: { path: "a.ts" }, from: 5_900, to: 5_950, output: "changed" },
            ],
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
          {
            agent: "messenger",
            task: "tell Ruth",
            from: 9_000,
            to: 3_611_000,
            costUsd: null,
            calls: [{ tool: "gmail_send_email", input: {}, from: 3_610_000, to: 3_610_200, output: "sent" }],
          },
        ],
      },
    ],
  });
  await record.addApproval({
    approvalId: "apr_1",
    sessionId: "ses_replayed",
    runId: "run_ses_replayed_0_2",
    callId: "call_ses_replayed_0_2_c0",
    tool: "gmail_send_email",
    inputHash: "h",
    request: { reason: "it leaves this machine" },
    requestedAtMs: STARTED_MS + 9_500,
  });
  await record.answerApproval("apr_1", { allowed: true, by: "ada", atMs: STARTED_MS + 3_609_000 });
  await record.close();
}

const slider = (page: Page) => page.getByRole("slider", { name: "Moment" });
const atOf = async (page: Page) => Number(await slider(page).getAttribute("aria-valuenow"));
const row = (page: Page, words: RegExp) => page.getByRole("row", { name: words });
const figures = (page: Page) => page.locator("dl[aria-label='At this moment']");

describe.skipIf(!hasBrowser)("the replay of a trace", () => {
  let first: Visitor;
  beforeAll(async () => {
    browser = await startBrowser();
    world = new World();
    await makeRecord();
    served = await serve(world);
    first = await visit(browser, served);
  });
  afterAll(async () => {
    await served?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
    await browser?.close();
  });

  /** A page of a browser that is in, at a moment, and everything that must not happen there. */
  async function open(
    query: string,
    options: Parameters<Browser["newContext"]>[0] = {},
  ): Promise<Visitor & AsyncDisposable> {
    const context = await browser.newContext({
      viewport: { width: 1_440, height: 900 },
      storageState: await first.context.storageState(),
      ...options,
    });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    await page.goto(`${served.url}/trace/ses_replayed${query}`);
    await page.getByRole("rowgroup").last().waitFor();
    return { context, page, faults, foreign: [], [Symbol.asyncDispose]: () => context.close() };
  }

  test("a link with a moment shows how everything stood then, and nothing of what came later", async () => {
    await using visitor = await open(`?at=5600&run=${CODER}&tab=tools`);
    const { page } = visitor;
    await row(page, /^coder, running, fix it/).waitFor();
    await row(page, /^researcher, done, look around/).waitFor();
    await row(page, /^tester, not begun, try it/).waitFor();
    await row(page, /^messenger, not begun/)
      .getByText("not begun")
      .waitFor();
    await figures(page).getByText("4 turns").waitFor();
    expect(await figures(page).getByRole("definition").allTextContents()).toEqual([
      "3 of 5 runs",
      "2 live",
      "4 turns",
      "1 call",
      "6.8k tokens",
      "$0.03",
    ]);
    const pane = page.getByRole("complementary", { name: "Run of coder" });
    const calls = pane.getByRole("list", { name: "Turns and calls" });
    await calls.getByRole("button", { name: /^read under way/ }).click();
    await calls.getByRole("figure", { name: "Input" }).waitFor();
    expect(await calls.textContent()).not.toMatch(/what stood there|edit|Delegated/);
    await pane.getByRole("tab", { name: "Result" }).click();
    await pane.getByText("It had not ended at this moment.").waitFor();
    await pane.getByRole("tab", { name: "Raw" }).click();
    await pane.getByText("request_content").waitFor();
    await pane.getByRole("tab", { name: "Files" }).click();
    await pane.getByText("It had not ended at this moment.").waitFor();
    expect(await page.locator("main").textContent()).not.toMatch(/One line was wrong|1 of 3 failed/);
    expectQuiet(visitor);
  });

  test("the playhead moves by keys, in steps that say what happened, and to a run's end where its result is", async () => {
    await using visitor = await open(`?run=${CODER}`);
    const { page } = visitor;
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.locator("[role=slider]:focus").waitFor();
    const bar = page.getByRole("region", { name: "Replay" });
    await bar.getByRole("button", { name: "Skip idle" }).waitFor();
    expect(await atOf(page)).toBe(0);
    await page.keyboard.press("ArrowRight");
    const one = await atOf(page);
    expect(one).toBeGreaterThan(0);
    await page.keyboard.press("PageUp");
    const eleven = await atOf(page);
    expect(eleven / one).toBeCloseTo(11, 0);
    await page.keyboard.press("PageDown");
    await page.keyboard.press("ArrowLeft");
    expect(await atOf(page)).toBeLessThan(5);
    await page.keyboard.press("End");
    expect(await slider(page).getAttribute("aria-valuetext")).toBe("1 h 00 m 12 s, 0 of 5 runs live");
    await page.keyboard.press("Home");
    await page.keyboard.press(".");
    await bar.getByText("Researcher began").waitFor();
    expect(await slider(page).getAttribute("aria-valuetext")).toBe("1.0 s, 2 of 5 runs live");
    const pane = page.getByRole("complementary", { name: "Run of coder" });
    while ((await atOf(page)) < 8_000) {
      await pane.getByText(/It had not (begun|ended) at this moment/).waitFor();
      await page.keyboard.press(".");
    }
    await bar.getByText("Tester ended: failed").waitFor();
    expect(await pane.textContent()).not.toContain("One line was wrong");
    await page.keyboard.press(".");
    expect(await atOf(page)).toBe(8_500);
    await pane.getByText("One line was wrong.").waitFor();
    await page.keyboard.press(",");
    expect(await atOf(page)).toBe(8_000);
    await pane.getByText("It had not ended at this moment.").waitFor();
    expectQuiet(visitor);
  });

  test("the playhead is dragged in the bar and on the axis, and Back leaves the replay in one step", async () => {
    await using visitor = await open("");
    const { page } = visitor;
    await page.keyboard.press("r");
    await page.getByRole("button", { name: "Skip idle" }).waitFor();
    const drag = async (box: { x: number; y: number; width: number; height: number } | null) => {
      if (!box) throw new Error("there is nothing to drag");
      const y = box.y + box.height / 2;
      await page.mouse.move(box.x + 20, y);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 4, y, { steps: 20 });
      await page.mouse.move(box.x + box.width / 2, y, { steps: 20 });
      await page.mouse.up();
    };
    await drag(await slider(page).boundingBox());
    const dragged = await atOf(page);
    expect(dragged).toBeGreaterThan(2_000);
    // An idle hour takes hardly any room: the middle is in the work before it.
    expect(dragged).toBeLessThan(9_000);
    await page.waitForURL((url) => url.searchParams.get("at") === String(dragged));
    const bar = await page.locator(`[data-run="run_ses_replayed_0"] [data-standing]`).first().boundingBox();
    const line = await page.getByTestId("playhead").first().boundingBox();
    expect(Math.abs((bar?.x ?? 0) + (bar?.width ?? 0) - (line?.x ?? 0))).toBeLessThan(3);
    await page.keyboard.press("Home");
    await drag(await page.getByTestId("axis-handle").boundingBox());
    expect(Math.abs((await atOf(page)) - dragged)).toBeLessThan(200);
    await page.goBack();
    await slider(page).waitFor({ state: "detached" });
    expect(page.url()).not.toContain("at=");
    await row(page, /^tester, failed/).waitFor();
    await page.goForward();
    await slider(page).waitFor();
    expectQuiet(visitor);
  });

  test("when zoomed in, the playhead stays in sight wherever it goes", async () => {
    await using visitor = await open("?at=0");
    const { page } = visitor;
    for (let times = 0; times < 4; times++) await page.getByRole("button", { name: "Closer (+)" }).click();
    const isInSight = async () => {
      const block = await page.getByRole("treegrid").boundingBox();
      const line = await page.getByTestId("playhead").first().boundingBox();
      if (!block || !line) throw new Error("there is no playhead");
      return line.x >= block.x && line.x <= block.x + block.width;
    };
    for (const key of ["End", "Home", "PageDown", "PageDown"]) {
      await slider(page).press(key);
      await settle(page);
      expect([key, await isInSight()]).toEqual([key, true]);
    }
    await page.keyboard.press(".");
    await settle(page);
    expect(await isInSight()).toBe(true);
    expectQuiet(visitor);
  });

  test("Back leaves the replay while it plays as well", async () => {
    await using visitor = await open("");
    const { page } = visitor;
    await page.keyboard.press("r");
    await page.getByRole("button", { name: "1×", exact: true }).click();
    await page.keyboard.press("p");
    await page.waitForURL((url) => Number(url.searchParams.get("at")) > 0);
    await page.goBack();
    await slider(page).waitFor({ state: "detached" });
    // A playhead that went on would be back with the next frame.
    await settle(page);
    expect(await slider(page).count()).toBe(0);
    expect(page.url()).not.toContain("at=");
    await page.keyboard.press("r");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    expect(await atOf(page)).toBe(0);
    expectQuiet(visitor);
  });

  test("it plays to the end, also through an idle hour, and then everything is as it is now", async () => {
    await using visitor = await open("?at=9600");
    const { page } = visitor;
    await row(page, /^messenger, needs you/).waitFor();
    const bar = page.getByRole("region", { name: "Replay" });
    await bar.getByRole("button", { name: "16×" }).click();
    await bar.getByRole("button", { name: "Play", exact: true }).click();
    await page.locator(`[role=slider][aria-valuenow="${END_MS}"]`).waitFor();
    await bar.getByRole("button", { name: "Play", exact: true }).waitFor();
    await row(page, /^main, done/).waitFor();
    const then = await figures(page).getByRole("definition").allTextContents();
    expect(then.slice(1, 3)).toEqual(["0 live", "1 failed"]);
    await bar.getByRole("button", { name: "Leave the replay" }).click();
    const now = await page.locator("dl[aria-label='In all'] dd").allTextContents();
    // The messenger's cost is not known, so that the whole is not; nor was it then.
    expect(now).toEqual(expect.arrayContaining([...then.slice(3), "$?"]));
    expect(await page.evaluate("document.activeElement.id")).toBe("replay");
    expectQuiet(visitor);
  });

  test("without motion it plays from one thing that happened to a later one", async () => {
    await using visitor = await open("?at=0", { reducedMotion: "reduce" });
    const { page } = visitor;
    await page.getByRole("button", { name: "Skip idle" }).waitFor();
    await page.getByRole("button", { name: "16×" }).click();
    await page.evaluate(`globalThis.moments = new Set();
      new MutationObserver(() => moments.add(document.querySelector("[role=slider] span:nth-of-type(2)").style.width))
        .observe(document.querySelector("[role=slider]"), { subtree: true, attributes: true })`);
    await page.keyboard.press("p");
    await page.locator(`[role=slider][aria-valuenow="${END_MS}"]`).waitFor();
    expect(await page.evaluate("moments.size")).toBeLessThan(12);
    expectQuiet(visitor);
  });

  test("lanes show the moment as well", async () => {
    await using visitor = await open("?at=5600&view=lanes");
    const { page } = visitor;
    await page.getByRole("button", { name: /try it, not begun/ }).waitFor();
    await page.getByRole("button", { name: /fix it, running, 600 ms/ }).waitFor();
    expectQuiet(visitor);
  });

  for (const [colorScheme, width] of [
    ["light", 1_440],
    ["dark", 390],
  ] as const)
    test(`shuts nobody out, in ${colorScheme} at ${width} pixels`, async () => {
      await using visitor = await open("?at=9600", {
        colorScheme,
        reducedMotion: "reduce",
        viewport: { width, height: 900 },
      });
      const { page } = visitor;
      await page.getByRole("button", { name: "Skip idle" }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      expectQuiet(visitor);
    });
});

describe.skipIf(!hasBrowser)("the replay of a live session", () => {
  test("continues in the background, says so, and leads back to now", async () => {
    const own = await startBrowser();
    await using team = await makeTeam();
    await using live = await serve(team.world, 0, ["--agent", "lead"]);
    const visitor = await visit(own, live);
    const { page } = visitor;
    await page.getByRole("textbox", { name: "Message" }).fill("What is around us?");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/ses_/);
    await page.goto(page.url().replace("/chat/", "/trace/"));
    await row(page, /^leaf, running/)
      .first()
      .waitFor();
    await page.keyboard.press("r");
    await row(page, /^leaf, not begun/)
      .first()
      .waitFor();
    const back = page.getByRole("button", { name: /^Live now/ });
    await back.waitFor();
    team.leaves.release();
    // What happens now happens elsewhere: the moment stays what it was.
    await back.waitFor({ state: "detached" });
    await row(page, /^leaf, not begun/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Leave the replay" }).click();
    await row(page, /^lead, done/).waitFor();
    expect(await row(page, /^leaf, done/).count()).toBe(2);
    expectQuiet(visitor);
    await own.close();
  });
});
