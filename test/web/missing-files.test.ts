import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { World } from "../cli/world.ts";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { writeSession } from "../fixtures/recorded-session.ts";
import { serve, visit } from "./served.ts";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await startBrowser();
});
afterAll(() => browser?.close());

async function record(world: World): Promise<void> {
  mkdirSync(world.data, { recursive: true });
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  await writeSession(record, {
    sessionId: "ses_said",
    title: "Fix it",
    project: world.project,
    runs: [{ agent: "main", task: "Fix it", from: 0, to: 1_000, answer: "All is **done**." }],
  });
  await record.close();
}

/** As after the server was replaced by a newer one, whose files have other names. */
async function loseFiles(page: Page, name: RegExp, isLost = () => true): Promise<void> {
  await page.route(name, (route) => (isLost() ? route.fulfill({ status: 404, body: "" }) : route.continue()));
}

/** The page asks the server and has its answer: what it had asked before is answered as well. */
const ask = (page: Page) =>
  page.evaluate(`fetch("/api/about").then((answer) => answer.text()).then(() => 0)`);

describe.skipIf(!hasBrowser)("a file of the app that does not come", () => {
  test("leaves texts as they were written, and Markdown is drawn once the server is back", async () => {
    await using world = new World();
    await record(world);
    await using served = await serve(world);
    const { page } = await visit(browser, served);
    await page.route(/streamed-markdown/, (route) => route.abort());
    await page.goto(`${served.url}/chat/ses_said`);
    await page.getByText("All is **done**.").waitFor();
    await served.stop();
    await page.getByRole("alert").getByText("The server does not answer.").waitFor();
    await page.getByText("All is **done**.").waitFor();
    await page.unroute(/streamed-markdown/);
    await using _again = await serve(world, Number(new URL(served.url).port));
    await page.locator("strong, [data-streamdown=strong]").getByText("done", { exact: true }).waitFor();
  });

  test("does not reload the page while somebody types", async () => {
    await using world = new World();
    await using served = await serve(world);
    const { page } = await visit(browser, served);
    await page.goto(served.url);
    const missed = page.waitForResponse((response) => response.status() === 404);
    await loseFiles(page, /assets\/(?!index).*\.js/);
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("half a sent");
    await page.evaluate("globalThis.isSame = true");
    await missed;
    await ask(page);
    await ask(page);
    await page.keyboard.type("ence");
    expect(await field.inputValue()).toBe("half a sentence");
    expect(await page.evaluate("globalThis.isSame")).toBe(true);
  });

  test("reloads the page when it is the screen that somebody goes to", async () => {
    await using world = new World();
    await using served = await serve(world);
    const { page } = await visit(browser, served);
    await page.goto(served.url);
    let isOld = true;
    await loseFiles(page, /assets\/runs-screen.*\.js/, () => isOld);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    page.once("domcontentloaded", () => {
      isOld = false;
    });
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    expect(isOld).toBe(false);
  });
});
