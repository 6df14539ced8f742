import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { renderTracePage } from "@retinue/cli/trace-page/render-page";
import { createStore } from "@retinue/core/record/create-store";
import { loadTrace } from "@retinue/core/trace/load-trace";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { hostileTexts } from "../fixtures/hostile-texts.ts";
import { type MadeRun, type MadeSession, writeSession } from "../fixtures/recorded-session.ts";

const SCRIPTS = hostileTexts();

const calm: MadeSession = {
  sessionId: "ses_calm",
  title: "two parts",
  runs: [
    {
      agent: "main",
      task: "two parts",
      from: 0,
      to: 9_000,
      answer: "## Done\n\n- **one** and `two`",
      runs: [
        {
          agent: "coder",
          task: "mend it",
          from: 1_000,
          to: 7_000,
          files: ["src/a.ts"],
          calls: [
            { tool: "edit", input: { path: "src/a.ts" }, from: 2_000, to: 3_000, output: "1 place changed" },
          ],
          runs: [
            {
              agent: "tester",
              task: "try it",
              from: 4_000,
              to: 6_000,
              status: "failed",
              error: "1 of 3 failed",
            },
          ],
        },
        { agent: "reviewer", task: "look at it", from: 1_200, to: 8_000 },
      ],
    },
  ],
};

let browser: Browser;
const dir = mkdtempSync(join(tmpdir(), "retinue-page-"));
beforeAll(async () => {
  if (hasBrowser) browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function pageOf(session: MadeSession): Promise<string> {
  const store = createStore({ path: ":memory:" });
  await writeSession(store, session);
  const html = renderTracePage(loadTrace(store, store.findSession(session.sessionId)), () =>
    SCRIPTS.join("\n"),
  );
  await store.shutdown();
  const path = join(dir, `${session.sessionId}.html`);
  writeFileSync(path, html);
  return pathToFileURL(path).href;
}

type Opened = { page: Page; requests: string[]; faults: string[] };

async function open(url: string, options: Parameters<Browser["newPage"]>[0] = {}): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 }, ...options });
  const requests: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("dialog", (dialog) => void dialog.dismiss().then(() => faults.push("a dialog")));
  await page.goto(url);
  await page.waitForSelector(".row.selected");
  return { page, requests, faults };
}

function hostileRun(text: string, index: number): MadeRun {
  const from = index * 100;
  return {
    agent: text,
    task: text,
    message: `${text}\n\n# ${text}\n- ${text}\n\`\`\`\n${text}`,
    from,
    to: from + 90,
    answer: `# ${text}\n**${text}** \`${text}\`\n1. ${text}`,
    files: [text],
    calls: [{ tool: text, input: { text }, from: from + 10, to: from + 20, outcome: "error", output: text }],
    ...(index % 2 === 0 && { error: text, status: "failed" as const }),
    ...(index % 3 === 0 && { bailout: text }),
  };
}

test.skipIf(!hasBrowser)(
  "nothing in a record runs, loads or becomes markup, in any part of the page",
  async () => {
    const url = await pageOf({
      sessionId: "ses_hostile",
      title: SCRIPTS.join(" "),
      project: SCRIPTS[0] ?? "",
      runs: SCRIPTS.map(hostileRun),
    });
    const { page, requests, faults } = await open(url);
    await page.keyboard.press("Home");
    const seen: unknown[] = [];
    for (const _ of SCRIPTS) {
      // Every tab with everything that can be unfolded, in one go: there are many texts.
      seen.push(
        await page.evaluate(`(() => {
          for (const tab of document.querySelectorAll("[role=tab]")) {
            tab.click();
            for (const summary of document.querySelectorAll(".pane details:not([open]) > summary")) summary.click();
          }
          return document.querySelector(".row.selected").id;
        })()`),
      );
      await page.keyboard.press("j");
    }
    expect(new Set(seen).size).toBe(SCRIPTS.length);
    await page.keyboard.press("Home");
    const made = await page.evaluate(`({
    pwned: "pwned" in globalThis,
    foreign: document.querySelectorAll(
      "img, iframe, form, base, link, object, embed, a, animate, b, #app script, #app style, [onerror], [onload], [srcdoc]",
    ).length,
  })`);
    expect(made).toEqual({ pwned: false, foreign: 0 });
    expect(requests).toEqual([url]);
    expect(faults).toEqual([]);
    expect(await page.locator("#run-0 .agent").textContent()).toBe(SCRIPTS[0]);
    await page.close();
  },
);

test.skipIf(!hasBrowser)("the policy of a page stops what would be put into it", async () => {
  const { page, requests } = await open(await pageOf(calm));
  const before = requests.length;
  const ran = await page.evaluate(`(async () => {
    const script = document.createElement("script");
    let refused = false;
    try {
      script.text = "window.pwned = 1";
      document.body.append(script);
    } catch {
      refused = true;
    }
    const loaded = await fetch("http://127.0.0.1:9/").then(() => true, () => false);
    return { pwned: "pwned" in globalThis, loaded, refused };
  })()`);
  expect(ran).toEqual({ pwned: false, loaded: false, refused: true });
  expect(requests.slice(before)).toEqual([]);
  await page.close();
});

test.skipIf(!hasBrowser)("the keyboard goes through runs, folds them, finds failures and words", async () => {
  const { page, faults } = await open(await pageOf(calm));
  const selected = () => page.locator(".row.selected .agent").textContent();
  expect(await selected()).toBe("tester");
  expect(await page.locator(".pane .error").first().textContent()).toBe("1 of 3 failed");
  await page.keyboard.press("Home");
  expect(await selected()).toBe("main");
  expect(await page.locator(".pane .answer strong").textContent()).toBe("one");
  await page.keyboard.press("j");
  expect(await selected()).toBe("coder");
  expect(await page.locator(".row.selected").getAttribute("aria-expanded")).toBe("true");
  await page.keyboard.press("ArrowLeft");
  expect(await page.locator(".row.selected").getAttribute("aria-expanded")).toBe("false");
  await page.keyboard.press("ArrowDown");
  expect(await selected()).toBe("reviewer");
  await page.keyboard.press("f");
  expect(await selected()).toBe("tester");
  await page.keyboard.press("Escape");
  expect(await page.locator(".pane").isVisible()).toBe(false);
  await page.keyboard.press("/");
  await page.keyboard.type("look");
  expect(await page.locator(".rows .agent").allTextContents()).toEqual(["main", "reviewer"]);
  await page.keyboard.press("Escape");
  expect(await page.locator(".rows .row").count()).toBe(4);
  await page.keyboard.press("Enter");
  expect(await page.locator(".pane").isVisible()).toBe(true);
  expect(await page.getByRole("treegrid").getAttribute("aria-activedescendant")).toMatch(/^run-\d$/);
  expect(faults).toEqual([]);
  await page.close();
});

test.skipIf(!hasBrowser)(
  "bars of parallel runs overlap in their lanes, and children stand within their parents",
  async () => {
    const { page } = await open(await pageOf(calm));
    const boxOf = async (index: number) => {
      const box = await page.locator(`#run-${index} .bar`).boundingBox();
      return { from: box?.x ?? 0, to: (box?.x ?? 0) + (box?.width ?? 0) };
    };
    const [main, coder, tester, reviewer] = [await boxOf(0), await boxOf(1), await boxOf(2), await boxOf(3)];
    expect(coder.from).toBeGreaterThan(main.from);
    expect(coder.to).toBeLessThan(main.to);
    expect(tester.from).toBeGreaterThan(coder.from);
    expect(reviewer.from).toBeLessThan(coder.to);
    expect(reviewer.to).toBeGreaterThan(coder.to);
    await page.close();
  },
);

test.skipIf(!hasBrowser)(
  "on a phone nothing is wider than the screen and details fill it, in both themes",
  async () => {
    const url = await pageOf(calm);
    const colours = new Set<string>();
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, faults } = await open(url, { viewport: { width: 390, height: 844 }, colorScheme });
      const width = () => page.evaluate("document.documentElement.scrollWidth");
      expect(await width()).toBe(390);
      colours.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
      await page.locator("#run-1").click();
      expect((await page.locator(".pane").boundingBox())?.width).toBe(390);
      expect(await width()).toBe(390);
      expect(faults).toEqual([]);
      await page.close();
    }
    expect(colours.size).toBe(2);
  },
);

test.skipIf(!hasBrowser)("of thousands of runs only what is in sight is in the document", async () => {
  const children = Array.from({ length: 3_000 }, (_, index) => ({
    agent: "worker",
    task: `part ${index}`,
    from: index + 1,
    to: index + 500,
  }));
  const runs = [{ agent: "main", task: "many", from: 0, to: 9_000, runs: children }];
  const { page } = await open(await pageOf({ sessionId: "ses_many", title: "many", runs }));
  expect(await page.locator(".rows .row").count()).toBeLessThan(60);
  await page.keyboard.press("End");
  expect(await page.locator(".row.selected .task").textContent()).toBe("part 2999");
  expect(await page.locator(".row.selected").isVisible()).toBe(true);
  await page.close();
});
