import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { expectQuiet, serve, visit } from "./served.ts";
import { makeTeam } from "./team.ts";
import { go } from "./walk.ts";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await startBrowser();
});
afterAll(() => browser?.close());

/** The card of a run, by its agent and a word of its task. */
const card = (page: Page, agent: string, task = "") =>
  page.getByRole("row", { name: new RegExp(`(Collapse|Expand) ${agent}.*${task}`) });

async function ask(page: Page, task: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(task);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/chat\/ses_/);
}

describe.skipIf(!hasBrowser)("the chat", () => {
  test("shows parallel and nested sub-agents while they work, and then the answer", async () => {
    await using team = await makeTeam();
    await using served = await serve(team.world, 0, ["--agent", "lead"]);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await ask(page, "What is around us?");
    await card(page, "leaf", "north").waitFor();
    await card(page, "leaf", "south").waitFor();
    for (const [agent, level] of [
      ["lead", "1"],
      ["mid", "2"],
      ["leaf", "3"],
    ] as const) {
      const first = card(page, agent).first();
      expect(await first.getAttribute("aria-level")).toBe(level);
      expect(await first.textContent()).toContain("running");
    }
    expect(await card(page, "leaf").count()).toBe(2);
    team.leaves.release();
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("Both sides are known.")
      .waitFor();
    await page.locator("[data-status=completed]").first().waitFor();
    expect(await card(page, "mid").count()).toBe(2);
    expect(await page.getByText("running").count()).toBe(0);
    expectQuiet(visitor);
  });

  test("an answer keeps its lines; code and tables keep theirs", async () => {
    const said =
      "contacts: two\ncalendar: free\nemail: none\n\n- src/a.ts:3\n  ```\n  3 | one\n  4 | two\n  ```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend";
    await using team = await makeTeam((_, agent) => (agent === "lead" ? { text: said } : undefined));
    await using served = await serve(team.world, 0, ["--agent", "lead"]);
    const { page } = await visit(browser, served);
    await ask(page, "What is there?");
    const answer = page.getByRole("row", { name: /^Answer/ }).locator(".markdown");
    await answer.locator("table").waitFor();
    expect(await answer.locator("p").first().textContent()).toBe(
      "contacts: two\ncalendar: free\nemail: none",
    );
    expect(await answer.locator("p").first().locator("br").count()).toBe(2);
    expect((await answer.locator("li pre").textContent())?.trim()).toBe("3 | one\n4 | two");
    expect(await answer.locator("pre br, table br").count()).toBe(0);
  });

  test("stops one sub-agent with everything below it, and nothing else", async () => {
    await using team = await makeTeam();
    await using served = await serve(team.world, 0, ["--agent", "lead"]);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await ask(page, "What is around us?");
    await card(page, "leaf", "south").waitFor();
    await card(page, "mid", "north").getByRole("button", { name: "Stop mid" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /stop/i }).click();
    await card(page, "mid", "north").getByText("stopped").waitFor();
    await card(page, "leaf", "south").getByText("running").waitFor();
    team.leaves.release();
    await card(page, "mid", "south").getByText("done").waitFor();
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("known")
      .waitFor();
    await card(page, "mid", "north").getByRole("button", { name: "Expand mid" }).click();
    expect(await card(page, "leaf", "north").textContent()).toContain("stopped");
    expectQuiet(visitor);
  });

  test("continues after the server was killed in the middle: nothing is lost and nothing appears twice", async () => {
    await using team = await makeTeam();
    await using first = await serve(team.world, 0, ["--agent", "lead"]);
    const { page, faults } = await visit(browser, first);
    await ask(page, "What is around us?");
    await card(page, "leaf", "north").waitFor();
    await card(page, "leaf", "south").waitFor();
    await first.stop("SIGKILL");
    await page
      .getByText(/reconnecting/i)
      .first()
      .waitFor();
    await using second = await serve(team.world, Number(new URL(first.url).port), ["--agent", "lead"]);
    expect(second.url).toBe(first.url);
    team.leaves.release();
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("Both sides are known.")
      .waitFor();
    await page.getByText(/reconnecting/i).waitFor({ state: "detached" });
    expect([await card(page, "lead").count(), await card(page, "mid").count()]).toEqual([1, 2]);
    await page.reload();
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("Both sides are known.")
      .waitFor();
    expect([await card(page, "lead").count(), await card(page, "mid").count()]).toEqual([1, 2]);
    // What had been said before the kill was not asked for again.
    const turns = team
      .requestsOf("mid")
      .map(({ turn }) => turn)
      .sort();
    expect([team.requestsOf("lead").length, turns]).toEqual([2, [0, 0, 1, 1]]);
    expect(faults).toEqual([]);
  });

  test("two browsers and the command line see and steer the same session", async () => {
    await using team = await makeTeam();
    await using served = await serve(team.world, 0, ["--agent", "lead"]);
    const { page } = await visit(browser, served);
    await ask(page, "What is around us?");
    await card(page, "leaf", "north").waitFor();
    const answered = await page.request.post(`${served.url}/api/links`, {
      data: {},
      headers: { origin: served.url },
    });
    const { url: link } = (await answered.json()) as { url: string };
    const other = await visit(browser, { ...served, link });
    await other.page.goto(page.url());
    await card(other.page, "leaf", "south").waitFor();
    const id = new URL(page.url()).pathname.split("/")[2] ?? "";
    const seen = await team.world.run(["trace", id, "--json"]);
    expect(JSON.parse(seen.stdout)).toMatchObject({ session: { state: "running" }, totals: { runs: 5 } });
    expect((await team.world.run(["cancel", id])).code).toBe(0);
    for (const each of [page, other.page]) await card(each, "lead").getByText("stopped").waitFor();
  });

  test("a session of the command line is watched while it runs", async () => {
    await using team = await makeTeam();
    await using served = await serve(team.world, 0, ["--agent", "lead"]);
    const { page } = await visit(browser, served);
    const run = team.world.start(["run", "--agent", "lead", "From a terminal"]);
    await go(page, "/runs");
    await page.getByRole("link", { name: "From a terminal", exact: true }).click();
    await card(page, "leaf", "north").waitFor();
    await page
      .getByText(/another process/)
      .first()
      .waitFor();
    team.leaves.release();
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("Both sides are known.")
      .waitFor();
    expect((await run.ended).code).toBe(0);
  });
});
