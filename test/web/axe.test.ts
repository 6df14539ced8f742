import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { faultsOf } from "./faults-of.ts";
import { type Furnished, furnish } from "./furnished.ts";
import { serve, visit } from "./served.ts";
import { makeTeam } from "./team.ts";
import { go, unfold } from "./walk.ts";

/** One way that a screen can be. */
type State = {
  name: string;
  path: string;
  enter?(page: Page): Promise<unknown>;
  after?(page: Page): Promise<unknown>;
};

/** Ways to look at a screen. Each screen is seen in one of the first two; the deep tests see each variant in every way. */
const IS_DEEP = process.env.RETINUE_DEEP !== undefined;
const WAYS = [
  ["light", "desk", 1_440],
  ["dark", "phone", 360],
  ...(IS_DEEP
    ? ([
        ["dark", "desk", 1_440],
        ["light", "phone", 360],
      ] as const)
    : []),
] as const;

let browser: Browser;
let furnished: Furnished;
let live: string;
let asking: string;

const key = (keys: string) => async (page: Page) => {
  await page.keyboard.press(keys);
  await page.getByRole("dialog").waitFor();
};
const close = (page: Page) => page.keyboard.press("Escape");
const TABS = ["prompt", "result", "tools", "files", "permissions", "raw"];
const SIDES = ["rights", "try", "delegation", "problems", "diff"];

function states(): State[] {
  return [
    { name: "start page", path: "/" },
    {
      name: "live chat",
      path: `/chat/${live}`,
      enter: (page) => page.getByText("running").first().waitFor(),
    },
    { name: "finished chat", path: "/chat/ses_done", enter: unfold },
    {
      name: "chat with a question",
      path: `/chat/${asking}`,
      enter: (page) =>
        page
          .getByRole("region", { name: /asks to use/ })
          .first()
          .waitFor(),
    },
    { name: "no such session", path: "/chat/ses_none" },
    { name: "runs", path: "/runs" },
    { name: "ticked runs", path: "/runs?ticked=ses_done,ses_again" },
    { name: "comparison", path: "/compare?a=ses_done&b=ses_again", enter: unfold },
    { name: "comparison with nobody", path: "/compare?a=ses_done&b=ses_none" },
    { name: "trace", path: "/trace/ses_done" },
    { name: "replay", path: "/trace/ses_done?at=3000" },
    ...TABS.filter((tab) => IS_DEEP || tab === "result" || tab === "files").map((tab) => ({
      name: `trace with ${tab}`,
      path: `/trace/ses_done?run=run_ses_done_0_0&tab=${tab}`,
      enter: (page: Page) => unfold(page, "body"),
      // On a phone the pane lies over the page.
      after: close,
    })),
    { name: "agents", path: "/agents" },
    { name: "graph", path: "/agents?view=graph" },
    { name: "new agent", path: "/agents/new" },
    { name: "broken agent", path: "/agents/broken?side=problems" },
    ...SIDES.filter((side) => IS_DEEP || side === "rights").map((side) => ({
      name: `editor with ${side}`,
      path: `/agents/writer?side=${side}`,
    })),
    { name: "raw editor", path: "/agents/writer?pane=raw" },
    { name: "save dialog", path: "/agents/writer", enter: change, after: undo },
    { name: "plans", path: "/plans" },
    { name: "a plan", path: "/plans/plan_cart", enter: unfold },
    { name: "new plan", path: "/plans/new" },
    { name: "stats", path: "/stats" },
    { name: "approvals", path: "/approvals" },
    { name: "health", path: "/health", enter: unfold },
    { name: "commands", path: "/runs", enter: key("ControlOrMeta+k"), after: close },
    { name: "help", path: "/runs", enter: key("?"), after: close },
    { name: "nowhere", path: "/nowhere/at/all" },
    ...(IS_DEEP ? variants() : []),
  ];
}

function variants(): State[] {
  return [
    { name: "no runs", path: "/runs?search=nobodysaidthis" },
    { name: "comparison of words", path: "/compare?a=ses_done&b=ses_again&answers=words&runs=differences" },
    { name: "comparison of lines", path: "/compare?a=ses_done&b=ses_again&answers=lines" },
    { name: "live comparison", path: `/compare?a=ses_done&b=${live}` },
    { name: "comparison of one", path: "/compare?a=ses_done" },
    { name: "lanes", path: "/trace/ses_done?view=lanes" },
    { name: "replay in lanes", path: "/trace/ses_done?at=3000&view=lanes" },
    { name: "live trace", path: `/trace/${live}` },
  ];
}

async function change(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Description" }).fill("Writes things down.");
  await page.getByRole("button", { name: "Save", exact: false }).first().click();
  await page.getByRole("dialog").waitFor();
}

async function undo(page: Page): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: "Discard" }).click();
}

describe.skipIf(!hasBrowser)("every screen", () => {
  beforeAll(async () => {
    browser = await startBrowser();
    furnished = await furnish(browser);
    live = await furnished.start("lead", "What is around us?");
    asking = await furnished.start("messenger", "Tell Ruth");
    await furnished.start("writer", "Write it down");
  });
  afterAll(async () => {
    await furnished?.[Symbol.asyncDispose]();
    await browser?.close();
  });

  for (const [way, [colorScheme, kind, width]] of WAYS.entries())
    test(`is accessible and never scrolls sideways, in ${colorScheme} on a ${kind}`, async () => {
      const { page, faults } = await furnished.enter(browser, {
        colorScheme,
        reducedMotion: "reduce",
        viewport: { width, height: 900 },
      });
      expect(await page.evaluate("document.documentElement.dataset.theme")).toBe(colorScheme);
      const wrong: Record<string, string[]> = {};
      for (const [index, { name, path, enter, after }] of states().entries()) {
        if (!IS_DEEP && index % 2 !== way) continue;
        await go(page, path);
        await enter?.(page);
        const found = await faultsOf(page);
        const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
        if (wide !== width) found.push(`the page scrolls sideways: ${wide}`);
        if (found.length > 0) wrong[name] = found;
        await after?.(page);
      }
      expect(wrong).toEqual({});
      expect(faults).toEqual([]);
      await page.context().close();
    });

  test("is accessible when there is nothing to show yet", async () => {
    await using team = await makeTeam();
    const served = await serve(team.world, 0, ["--agent", "lead"]);
    const { page } = await visit(browser, served, { reducedMotion: "reduce" });
    const wrong: Record<string, string[]> = {};
    for (const path of ["/", "/runs", "/stats", "/approvals", "/plans", "/agents", "/health"]) {
      await go(page, path);
      const found = await faultsOf(page);
      if (found.length > 0) wrong[path] = found;
    }
    expect(wrong).toEqual({});
    await page.context().close();
    await served.stop();
  });
});
