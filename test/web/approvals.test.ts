import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelReply, ModelRequest } from "../cli/model.ts";
import { hasTmux, Pane } from "../cli/pane.ts";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { expectQuiet, serve, visit } from "./served.ts";
import { makeTeam, type Team } from "./team.ts";
import { go } from "./walk.ts";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await startBrowser();
});
afterAll(() => browser?.close());

const MAIL = { recipients: ["ruth@acme.example"], subject: "Tuesday", body: "Two o'clock works." };

/** A lead whose messenger mails somebody outside, which is of high risk, and whose writer must ask before it writes. */
async function makeMessengers(beforeWriting?: Promise<void>): Promise<Team> {
  const team = await makeTeam(async (request, agent) => {
    if (agent === "writer") await beforeWriting;
    return reply(request, agent);
  });
  team.world.agent("chief", "subagents: { allow: [messenger, writer] }");
  team.world.agent("messenger", "tools: [gmail_send_email]");
  team.world.agent("writer", "tools: [write]\naskTools: [write]");
  return team;
}

function reply({ turn, all, last }: ModelRequest, agent: string): ModelReply | undefined {
  const helper = /write it down/.test(all) ? "writer" : "messenger";
  if (agent === "chief")
    return turn === 0
      ? { calls: [{ name: "delegate", input: { agent: helper, task: "do it" } }] }
      : { text: "That is settled." };
  if (agent === "messenger")
    return turn === 0
      ? { calls: [{ name: "gmail_send_email", input: MAIL }] }
      : { text: `I was told: ${last}` };
  if (agent === "writer")
    return turn === 0
      ? { calls: [{ name: "write", input: { path: "notes.txt", content: "first line\n" } }] }
      : { text: "Written." };
  return undefined;
}

async function start(page: Page, task: string): Promise<void> {
  await go(page, "/");
  await page.getByRole("textbox", { name: "Message" }).fill(task);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/chat\/ses_/);
}

/** What the model was told about its call. */
const toldTo = (team: Team, agent: string) => team.requestsOf(agent).at(-1)?.last ?? "";

describe.skipIf(!hasBrowser)("approvals", () => {
  test("a high-risk call is shown in full and happens only once somebody has allowed it", async () => {
    await using team = await makeMessengers();
    await using served = await serve(team.world, 0, ["--agent", "chief"]);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await start(page, "Tell Ruth");
    const card = page.getByRole("region", { name: /asks to use gmail_send_email/ });
    await card.waitFor();
    await card.getByText("high risk").waitFor();
    const shown = (await card.textContent()) ?? "";
    for (const part of ["chief", "ruth@acme.example", "Two o'clock works.", "auto-denied in"])
      expect(shown).toContain(part);
    expect(team.requestsOf("messenger")).toHaveLength(1);
    await page
      .getByRole("link", { name: /Approvals/ })
      .getByText("1")
      .waitFor();
    await card.getByRole("button", { name: "Allow once" }).click();
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("That is settled.")
      .waitFor();
    expect(toldTo(team, "messenger")).toMatch(/queued|delivered|sent/i);
    await page
      .getByRole("region", { name: /asks to use/ })
      .first()
      .waitFor({ state: "detached" });
    expectQuiet(visitor);
  });

  test("a denial is told to the agent with the person's note, and nothing is sent", async () => {
    await using team = await makeMessengers();
    await using served = await serve(team.world, 0, ["--agent", "chief"]);
    const { page } = await visit(browser, served);
    await start(page, "Tell Ruth");
    await page.getByRole("link", { name: /Approvals/ }).click();
    const chosen = page.getByRole("region", { name: "Chosen question" });
    await chosen.getByRole("textbox", { name: /note/i }).fill("call her instead");
    await chosen.getByRole("button", { name: /^Deny/ }).click();
    await page
      .getByText(/nothing (waits|needs)/i)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Chat", exact: true }).first().click();
    await page
      .getByRole("link", { name: /Tell Ruth/ })
      .first()
      .click();
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("That is settled.")
      .waitFor();
    expect(toldTo(team, "messenger")).toContain("call her instead");
    expect(toldTo(team, "messenger")).not.toMatch(/queued|delivered/);
  });

  test("on the Approvals screen the keys y, n and a answer at once, without a click", async () => {
    await using team = await makeMessengers();
    await using served = await serve(team.world, 0, ["--agent", "chief"]);
    const { page } = await visit(browser, served);
    for (const [key, told] of [
      ["y", /queued|delivered|sent/i],
      ["n", /did not give it/],
      ["a", /queued|delivered|sent/i],
    ] as const) {
      await start(page, `Tell Ruth, ${key}`);
      await page.getByRole("region", { name: /asks to use gmail_send_email/ }).waitFor();
      await go(page, "/approvals");
      const chosen = page.getByRole("region", { name: "Chosen question" });
      await chosen.locator(`button[aria-keyshortcuts=${key}][aria-disabled=false]`).waitFor();
      const asked = team.requestsOf("messenger").length;
      await page.keyboard.press(key);
      await page
        .getByText(/nothing (waits|needs)/i)
        .first()
        .waitFor();
      await expect.poll(() => team.requestsOf("messenger").length).toBe(asked + 1);
      expect(toldTo(team, "messenger")).toMatch(told);
    }
  });

  test("a change of a file is shown as a diff, and the terminal can answer what the browser shows", async () => {
    // The page's first list of questions is answered before there is one, and arrives after the news of it.
    const isAnswered = Promise.withResolvers<void>();
    const isTold = Promise.withResolvers<void>();
    await using team = await makeMessengers(isAnswered.promise);
    await using served = await serve(team.world, 0, ["--agent", "chief"]);
    const { page } = await visit(browser, served);
    await page.route("**/api/approvals?open=1", async (route) => {
      const response = await route.fetch();
      isAnswered.resolve();
      await isTold.promise;
      await route.fulfill({ response });
    });
    await start(page, "write it down");
    await page
      .getByRole("link", { name: /Approvals/ })
      .getByText("1")
      .waitFor();
    isTold.resolve();
    const card = page.getByRole("region", { name: /asks to use write/ });
    await card.getByText("+first line").waitFor();
    expect(existsSync(join(team.world.project, "notes.txt"))).toBe(false);
    const waiting = await team.world.run(["approve", "--json"]);
    const [first] = JSON.parse(waiting.stdout) as { approval_id?: string; approvalId?: string }[];
    const id = first?.approvalId ?? first?.approval_id ?? "";
    expect((await team.world.run(["approve", id, "--yes"])).code).toBe(0);
    await page
      .getByRole("row", { name: /^Answer/ })
      .getByText("That is settled.")
      .waitFor();
    expect(team.world.read("notes.txt")).toBe("first line\n");
  });

  test.skipIf(!hasTmux)(
    "what a terminal asks is on the Approvals screen, and once it is answered there the terminal continues",
    async () => {
      await using team = await makeMessengers();
      await using served = await serve(team.world, 0, ["--agent", "chief"]);
      const visitor = await visit(browser, served);
      const { page } = visitor;
      await page.getByRole("link", { name: /Approvals/ }).click();
      using pane = new Pane(team.world, ["run", "--agent", "chief", "write it down"], {
        columns: 120,
        rows: 40,
      });
      await pane.has("allow write for writer? [y/N]");
      const chosen = page.getByRole("region", { name: "Chosen question" });
      await chosen.getByText("+first line").waitFor();
      await page
        .getByRole("link", { name: /Approvals/ })
        .getByText("1")
        .waitFor();
      await chosen.getByRole("link", { name: "write it down" }).click();
      const card = page.getByRole("region", { name: /asks to use write/ });
      await card.getByRole("button", { name: "Allow once" }).click();
      const end = await pane.has("exit ");
      expect(end).toContain("[y/N] (answered elsewhere: allowed by the person in the browser)");
      expect(end).toMatch(/^exit 0 isig icanon echo$/m);
      expect(team.world.read("notes.txt")).toBe("first line\n");
      await page
        .getByRole("row", { name: /^Answer/ })
        .getByText("That is settled.")
        .waitFor();
      expect(await page.getByRole("region", { name: /asks to use/ }).count()).toBe(0);
      expectQuiet(visitor);
    },
  );

  test.skipIf(!hasTmux)("a question that is answered at its terminal disappears from the page", async () => {
    await using team = await makeMessengers();
    await using served = await serve(team.world, 0, ["--agent", "chief"]);
    const { page } = await visit(browser, served);
    await page.getByRole("link", { name: /Approvals/ }).click();
    using pane = new Pane(team.world, ["run", "--agent", "chief", "Tell Ruth"], { columns: 120, rows: 40 });
    await page
      .getByRole("region", { name: "Chosen question" })
      .getByText("Two o'clock works.")
      .first()
      .waitFor();
    await pane.has("[y/N]");
    pane.type("n", "Enter");
    await pane.has("exit ");
    await page
      .getByText(/nothing (waits|needs)/i)
      .first()
      .waitFor();
    await page.getByText("the person at the terminal").first().waitFor();
  });
});
