/**
 * Makes the pictures in docs/images from the real app: the built program serves an example project, a stand-in for a model plays
 * a fixed scene, and Chromium looks at every screen in both themes, on a desk and on a phone. `npm run pictures`.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeDemoProject } from "@retinue/cli/commands/demo";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { startBrowser } from "../../test/fixtures/browser.ts";
import { EARLIER, writePastSessions } from "./past-sessions.ts";
import { startSceneModel } from "./scene-model.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const IMAGES = here("../../docs/images");
const TASK = "Fix the discount in src/cart.js, show it with a test, and tell Ruth at Acme";
const HERALD = `---
name: herald
description: Writes to people outside when something concerns them.
tools: [gmail_send_email]
limits: { turns: 6 }
display: { name: Herald, icon: 📯, color: orange }
---
You write short, friendly mails to the people you are told to reach.
`;

/** What was begun for the pictures. */
type Scene = { sessionId: string; planId: string };
type Look = { name: string; path: string; ready(page: Page): Promise<unknown> };

const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-pictures-")));
const project = join(root, "corner-shop");

function makeProject(): void {
  using example = makeDemoProject();
  cpSync(example.dir, project, { recursive: true });
  writeFileSync(join(project, ".retinue/agents/herald.md"), HERALD);
}

/** Starts the built program and gives its link. */
async function serve(model: string): Promise<{ link: string; stop(): Promise<void> }> {
  const config = join(root, "config/retinue");
  mkdirSync(config, { recursive: true });
  const prices = { "custom/scripted": { input: 3, output: 15 }, scripted: { input: 3, output: 15 } };
  writeFileSync(join(config, "settings.json"), JSON.stringify({ prices }));
  const child = spawn(
    process.execPath,
    [here("../../dist/cli.js"), "serve", "--no-open", "--json", "-C", project],
    {
      env: {
        PATH: process.env.PATH,
        HOME: root,
        XDG_CONFIG_HOME: join(root, "config"),
        RETINUE_HOME: join(root, "data"),
        RETINUE_DISCOVER: "0",
        RETINUE_BASE_URL: model,
        RETINUE_MODEL: "scripted",
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const said = await new Promise<string>((resolve) =>
    child.stdout.once("data", (text) => resolve(String(text))),
  );
  const stop = () =>
    new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.kill("SIGTERM");
    });
  return { link: (JSON.parse(said) as { url: string }).url, stop };
}

/** Has a plan made, as a person would, and gives its id. */
async function makePlan(page: Page, origin: string): Promise<string> {
  await page.goto(`${origin}/plans`);
  await page.getByRole("textbox").first().fill("Let customers pay with gift cards");
  await page.getByRole("button", { name: "Make a plan" }).click();
  await page.waitForURL(/\/plans\/pl/);
  await page.getByText("Pay with a gift card").locator("visible=true").first().waitFor();
  const planId = new URL(page.url()).pathname.split("/")[2] ?? "";
  await page.goto(origin);
  return planId;
}

/** Begins the scene and waits until everything that will happen has. */
async function playScene(page: Page): Promise<string> {
  await page.getByRole("textbox", { name: "Message" }).fill(TASK);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/chat\/ses_/);
  await page.getByRole("region", { name: /asks to use gmail_send_email/ }).waitFor();
  await page.getByText("still hides every error", { exact: false }).first().waitFor();
  return new URL(page.url()).pathname.split("/")[2] ?? "";
}

function listLooks({ sessionId, planId }: Scene): Look[] {
  const heading = (name: RegExp | string) => (page: Page) =>
    page.getByRole("heading", { name, level: 1 }).waitFor();
  const run = (page: Page) => page.getByRole("row", { name: /^coder|Coder/ }).first();
  return [
    { name: "start", path: "/", ready: (page) => page.getByText("Try one").waitFor() },
    {
      name: "chat",
      path: `/chat/${sessionId}`,
      async ready(page) {
        await page.getByText("What it would do").first().waitFor();
        await page.getByRole("treegrid").hover();
        await page.mouse.wheel(0, -10_000);
      },
    },
    {
      name: "runs",
      path: "/runs",
      ready: (page) => page.getByRole("link", { name: TASK, exact: true }).first().waitFor(),
    },
    {
      name: "compare",
      path: `/compare?a=${EARLIER}&b=${sessionId}`,
      async ready(page) {
        await page.getByRole("treegrid").getByRole("row").nth(1).waitFor();
        if ((page.viewportSize()?.width ?? 0) > 800)
          await page.getByRole("heading", { name: "Answers" }).scrollIntoViewIfNeeded();
      },
    },
    {
      name: "trace",
      path: `/trace/${sessionId}`,
      async ready(page) {
        await run(page).waitFor();
        if ((page.viewportSize()?.width ?? 0) > 800) await run(page).click();
      },
    },
    {
      name: "lanes",
      path: `/trace/${sessionId}`,
      ready: (page) => page.getByRole("button", { name: "Lanes" }).click(),
    },
    {
      name: "replay",
      path: `/trace/${EARLIER}?at=17000`,
      async ready(page) {
        await page
          .locator("dl")
          .getByText(/ turns$/)
          .waitFor();
        if ((page.viewportSize()?.width ?? 0) > 800) await run(page).click();
      },
    },
    { name: "approvals", path: "/approvals", ready: heading("Approvals") },
    {
      name: "plans",
      path: `/plans/${planId}`,
      ready: (page) => page.getByText("Pay with a gift card").locator("visible=true").first().waitFor(),
    },
    { name: "agents", path: "/agents", ready: heading(/Agents/) },
    {
      name: "agent",
      path: "/agents/herald",
      ready: (page) =>
        page
          .getByRole("heading", { name: /Herald/i })
          .first()
          .waitFor(),
    },
    { name: "stats", path: "/stats", ready: (page) => page.getByRole("table").first().waitFor() },
    {
      name: "health",
      path: "/health",
      ready: (page) =>
        page
          .getByText(/sandbox/i)
          .first()
          .waitFor(),
    },
  ];
}

async function takeAll(context: BrowserContext, origin: string, scene: Scene, suffix: string): Promise<void> {
  const page = await context.newPage();
  for (const { name, path, ready } of listLooks(scene)) {
    await page.goto(origin + path);
    await ready(page);
    // What fades in has, and every font is there.
    await page.evaluate("document.fonts.ready");
    await page.waitForTimeout(700);
    await page.screenshot({ path: join(root, "images", `${name}${suffix}.png`) });
  }
  await page.close();
}

async function takePictures(browser: Browser, link: string): Promise<void> {
  const { origin } = new URL(link);
  const first = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const page = await first.newPage();
  await page.goto(link);
  const scene = { planId: await makePlan(page, origin), sessionId: await playScene(page) };
  const storageState = await first.storageState();
  for (const colorScheme of ["light", "dark"] as const) {
    const desk = await browser.newContext({
      storageState,
      colorScheme,
      viewport: { width: 1_440, height: 900 },
    });
    await takeAll(desk, origin, scene, `-${colorScheme}`);
    const phone = await browser.newContext({
      storageState,
      colorScheme,
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    await takeAll(phone, origin, scene, `-phone-${colorScheme}`);
    await desk.close();
    await phone.close();
  }
  await first.close();
}

makeProject();
mkdirSync(join(root, "images"));
mkdirSync(join(root, "data"), { recursive: true, mode: 0o700 });
await writePastSessions(join(root, "data/retinue.db"), project, TASK);
const model = await startSceneModel();
const served = await serve(model.url);
const browser = await startBrowser();
try {
  await takePictures(browser, served.link);
  rmSync(IMAGES, { recursive: true, force: true });
  cpSync(join(root, "images"), IMAGES, { recursive: true });
} finally {
  await browser.close();
  model.close();
  await served.stop();
  rmSync(root, { recursive: true, force: true });
}
