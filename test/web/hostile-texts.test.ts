import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { hostileTexts } from "../fixtures/hostile-texts.ts";
import { type Canary, openCanary, recordHostile, sessionsFor, writeHostileAgents } from "./hostile-stage.ts";
import { type Served, serve, type Visitor, visit } from "./served.ts";
import { makeTeam, type Team } from "./team.ts";
import { go, settle, unfold } from "./walk.ts";

/** Every text is seen in every depth; the deep one takes each through every tab of a run and every address. */
const IS_DEEP = process.env.RETINUE_DEEP !== undefined;

let browser: Browser;
let canary: Canary;
let texts: string[];
let all: string;
let team: Team;
let served: Served;
let visitor: Visitor;
let page: Page;
let agents: string[];
const places: string[] = [];
let seen = "";

/** What the app never has, whatever it shows: elements that run, load or send, handlers, and addresses that do. */
const MADE = `(() => {
  const wanted = [
    "script:not([src])", "style:not([nonce])", "base", "object", "embed", "math", "marquee", "video", "audio",
    "template", "picture", "source", "portal", "slot", "noscript:not(body > noscript)",
    "img[src]:not([src='/icon.svg'])", "iframe:not([sandbox=''])", "form[action]", "svg script", "svg animate", "svg image",
    "svg use", "meta[http-equiv=refresh]", "[srcdoc]", "[ping]", "[srcset]", "[popover][id=x]",
  ];
  const found = wanted.filter((each) => document.querySelector(each));
  for (const { src, href } of document.querySelectorAll("script, link"))
    if (!(src ?? href).startsWith(location.origin + "/")) found.push(src ?? href);
  for (const one of document.querySelectorAll("*"))
    for (const { name, value } of one.attributes) {
      if (/^on/.test(name)) found.push(name);
      if (/^(href|src|action|formaction|xlink:href)$/.test(name) && !/^(https?:|\\/|#|blob:http)/.test(value)) found.push(name + "=" + value);
    }
  return { pwned: "pwned" in globalThis, found };
})()`;

/** Nothing ran, nothing was made of a text, nobody was asked, and the page is where it was sent. */
async function expectUnharmed(): Promise<void> {
  expect(await page.evaluate(MADE), page.url()).toEqual({ pwned: false, found: [] });
  for (const frame of page.frames()) expect(await frame.evaluate(`"pwned" in globalThis`)).toBe(false);
  expect({ hits: canary.hits, faults: visitor.faults, foreign: visitor.foreign }, page.url()).toEqual({
    hits: [],
    faults: [],
    foreign: [],
  });
  expect(places.filter((place) => !place.startsWith(served.url) && !/^about:/.test(place))).toEqual([]);
}

/** Visits a place, opens everything there, and looks. */
async function look(path: string, within?: string): Promise<void> {
  await go(page, path);
  seen += await unfold(page, within);
  await expectUnharmed();
}

/** Texts as a page can show them: the record keeps them all, but some characters are no text anywhere. */
const shown = () => texts.filter((text) => text.isWellFormed() && !/[\0\r]/.test(text));

describe.skipIf(!hasBrowser)("texts that are meant to do harm", () => {
  beforeAll(async () => {
    browser = await startBrowser();
    canary = await openCanary();
    texts = hostileTexts(canary.url);
    all = texts.join("\n\n");
    team = await makeTeam(({ last, turn }, agent) => {
      if (agent === "fails") return { status: 400, message: all };
      if (agent !== "talker") return undefined;
      if (turn === 0)
        return {
          text: all,
          calls: [{ name: "write", input: { path: "<img src=x onerror=window.pwned=1>", content: all } }],
        };
      return { text: `${all}\n\n${last}` };
    });
    const { world } = team;
    world.agent("talker", "tools: [write]\naskTools: [write]");
    world.agent("fails", "tools: []");
    agents = writeHostileAgents(world, texts);
    await recordHostile(world, texts, canary.url);
    served = await serve(world, 0, ["--agent", "talker"]);
    visitor = await visit(browser, served);
    page = visitor.page;
    page.on("framenavigated", (frame) => places.push(frame.url()));
  });
  afterAll(async () => {
    await browser?.close();
    await served?.stop();
    await team?.[Symbol.asyncDispose]();
    await canary?.[Symbol.asyncDispose]();
  });

  test("do harm on an unguarded page, so these tests would notice it", async () => {
    await using bait = await openCanary();
    const open = await browser.newPage();
    // Those that lead away from the page would take with them what the others did.
    const staying = hostileTexts(bait.url).filter((text) => !/refresh|<base/.test(text));
    await open.setContent(staying.join("\n"), { waitUntil: "load" });
    expect(await open.evaluate(`"pwned" in globalThis`)).toBe(true);
    await open.close();
    expect(bait.hits).toEqual(expect.arrayContaining(["/x.js", "/a.png", "/import.css"]));
  });

  test("are only text in the conversation, with everything unfolded", async () => {
    for (const { sessionId } of sessionsFor(texts)) await look(`/chat/${sessionId}`);
  });

  test.for(IS_DEEP ? [0, 1, 2, 3, 4, 5] : [4])(
    "are only text in the trace and every part of its pane (session %i)",
    async (at) => {
      const session = sessionsFor(texts)[at];
      if (!session) throw new Error(`no session ${at}`);
      const { sessionId, runIds } = session;
      await look(`/trace/${sessionId}?view=lanes`);
      await look(`/trace/${sessionId}`);
      for (const answers of ["beside", "words", "lines"])
        await look(`/compare?a=${sessionId}&b=ses_bad0&answers=${answers}`);
      // In the deep tests each run in each tab, otherwise each run in one.
      const tabs = ["prompt", "result", "tools", "files", "permissions", "raw"];
      for (const [at, runId] of runIds.entries())
        for (const [index, tab] of tabs.entries())
          if (IS_DEEP || at % tabs.length === index)
            await look(`/trace/${sessionId}?run=${runId}&tab=${tab}`, "aside");
    },
  );

  test("are only text on the agents' screens: list, form, file, rights, trials, graph, problems, differences", async () => {
    await look("/agents");
    await look("/agents?view=graph");
    // In the deep tests each agent on each side, otherwise each agent on one.
    const sides = ["", "pane=raw&side=diff", "side=try", "side=delegation", "side=problems"];
    for (const [at, name] of agents.entries())
      for (const [index, side] of sides.entries())
        if (IS_DEEP || at % sides.length === index) await look(`/agents/${name}?${side}`);
    await look(`/agents/${encodeURIComponent("<img src=x onerror=window.pwned=1>")}`);
  });

  test("are only text in a trial, an edit and what would be saved", async () => {
    await go(page, "/agents/bad-0?side=try");
    for (const text of texts.filter((_, index) => index % 8 === 0)) {
      await page.getByLabel("Tool", { exact: true }).fill(text.toWellFormed());
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Try", exact: true }).click();
      await page.getByRole("alert").first().waitFor();
      await expectUnharmed();
    }
    await go(page, "/agents/bad-0?pane=raw&side=diff");
    const file = page.getByRole("textbox", { name: /text|file|markdown/i }).first();
    await file.click();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.insertText(`\n${all}`);
    await page.getByText("+<svg/onload").first().waitFor();
    await unfold(page);
    await expectUnharmed();
    await page.getByRole("button", { name: "Discard" }).click();
  });

  test("are only text in lists, figures, plans, health and questions", async () => {
    for (const path of ["/", "/runs", "/runs?search=pwned", "/stats", "/stats?by=model", "/health"])
      await look(path);
    for (const path of ["/plans", "/plans/plan_bad", "/plans/new", "/approvals"]) await look(path);
    for (const index of [0, 1, 2]) await look(`/approvals/apr_bad${index}`);
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.insertText("<img src=x onerror=window.pwned=1>");
    await expectUnharmed();
    await page.keyboard.press("Escape");
  });

  test("are only text in the boxes that people search and write with", async () => {
    for (const [path, name] of [
      ["/runs", /search/i],
      ["/agents", "Find an agent"],
      ["/trace/ses_bad0", /Filter runs/],
    ] as const)
      for (const text of texts.filter((_, index) => index % (IS_DEEP ? 6 : 18) === 0)) {
        await go(page, path);
        await page.getByRole("searchbox", { name }).fill(text.toWellFormed());
        await settle(page);
        await expectUnharmed();
      }
  });

  test("are only text in addresses", async () => {
    const parts = texts.map((text) => encodeURIComponent(text.toWellFormed().slice(0, 1_500)));
    for (const [index, part] of parts.entries()) {
      if (!IS_DEEP && index % 6 !== 0) continue;
      const paths = [
        `/chat/${part}`,
        `/trace/${part}`,
        `/trace/ses_bad0?run=${part}&tab=${part}&view=${part}&q=${part}`,
        `/runs?search=${part}&state=${part}&q=${part}`,
        `/runs?ticked=${part},ses_bad0`,
        `/compare?a=${part}&b=ses_bad0&runs=${part}&answers=${part}&prompt=${part}`,
        `/agents/${part}?pane=${part}&side=${part}&call=${part}&q=${part}`,
        `/agents?view=${part}&below=${part}`,
        `/plans/${part}?session=${part}`,
        `/approvals/${part}`,
        `/stats?by=${part}&since=${part}`,
        `/${part}?${part}#${part}`,
      ];
      const path = paths[index % paths.length] ?? "/";
      await go(page, path);
      await expectUnharmed();
      // As if it had been typed or kept: the whole page comes from the server.
      if (index % 12 === 0 || IS_DEEP) await page.goto(`${served.url}${path}`);
      await expectUnharmed();
    }
    for (const path of ["/agents/%zz", "/agents/%", "/chat/%E0%A4%A", "/trace/ses_bad0?run=%zz&q=%"]) {
      await page.goto(`${served.url}${path}`);
      await expectUnharmed();
    }
    await page.goto(served.url);
  });

  test("are only text while a model says them, when it asks, when it is refused and when it fails", async () => {
    const { world } = team;
    await page.goto(served.url);
    await page.getByRole("textbox", { name: "Message" }).fill(all.toWellFormed().slice(0, 20_000));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/ses_/);
    const card = page.getByRole("region", { name: /asks to use write/ });
    await card.waitFor();
    seen += await unfold(page);
    await expectUnharmed();
    await page.getByRole("link", { name: /Approvals/ }).click();
    await page.getByRole("region", { name: "Chosen question" }).waitFor();
    const id = new URL(await lastSession(page)).pathname;
    await go(page, id);
    await card.getByRole("textbox", { name: /note/i }).fill("<img src=x onerror=window.pwned=1>");
    await card.getByRole("button", { name: "Deny" }).click();
    await page
      .getByRole("row", { name: /^Answer/ })
      .first()
      .waitFor();
    seen += await unfold(page);
    await expectUnharmed();
    const failed = await world.run(["run", "--agent", "fails", "--json", "go"]);
    expect(failed.code).not.toBe(0);
    await look("/runs");
    await page.getByRole("link", { name: "go", exact: true }).first().click();
    await unfold(page);
    await expectUnharmed();
  });

  test("are no danger in a report: in its frame it shows itself and nothing else", async () => {
    // What the frame is kept from is told on the console, so it is another page than the one that must be quiet.
    const reader = await visitor.context.newPage();
    await reader.goto(`${served.url}/trace/ses_report?run=run_ses_report_0&tab=files`);
    await reader.getByRole("button", { name: "Show" }).first().click();
    const report = reader.frameLocator("iframe").getByRole("heading", { name: "The report" });
    await report.waitFor();
    for (const frame of reader.frames()) expect(await frame.evaluate(`"pwned" in globalThis`)).toBe(false);
    expect(new URL(reader.url()).pathname).toBe("/trace/ses_report");
    await reader.goto(`${served.url}/api/sessions/ses_report/files?path=report.html`);
    await reader.getByRole("heading", { name: "The report" }).waitFor();
    expect(await reader.evaluate(`"pwned" in globalThis`)).toBe(false);
    expect(new URL(reader.url()).pathname).toBe("/api/sessions/ses_report/files");
    await reader.close();
    expect(canary.hits).toEqual([]);
  });

  test("were all seen as what they are", () => {
    expect(shown().filter((text) => !seen.includes(text))).toEqual([]);
    expect(canary.hits).toEqual([]);
  });
});

/** The address of the newest session, from the list. */
async function lastSession(from: Page): Promise<string> {
  const answer = await from.request.get(`${served.url}/api/sessions?limit=1`);
  const { sessions } = (await answer.json()) as { sessions: { session_id: string }[] };
  return `${served.url}/chat/${sessions[0]?.session_id}`;
}
