import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { World } from "../cli/world.ts";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { expectQuiet, serve, visit } from "./served.ts";
import { go } from "./walk.ts";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await startBrowser();
});
afterAll(() => browser?.close());

/** With a comment, a key that nobody knows, and a name in quotes: all of it must survive every edit. */
const SCRIBE = `---
# who writes things down
name: "scribe"
description: Reviews texts.
tools: [read, grep] # only looking
x-team: {floor: 3}
subagents:
  allow: [clerk]
---
You review texts.
`;

function makeOffice(): World {
  const world = new World();
  world.write(".retinue/agents/scribe.md", SCRIBE);
  world.agent("clerk", "tools: [read]");
  return world;
}

const rightsOf = (page: Page, tool: string) =>
  page.getByRole("table").getByRole("row", { name: new RegExp(`^${tool} `) });
async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save", exact: true }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: /^Save/ }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

describe.skipIf(!hasBrowser)("the agents' editor", () => {
  test("a right given in the form changes the effective rights at once, and only its line of the file", async () => {
    await using world = makeOffice();
    await using served = await serve(world, 0, ["--agent", "scribe"]);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    await go(page, "/agents/scribe");
    await rightsOf(page, "shell").getByText("denied").waitFor();
    await page.getByRole("searchbox", { name: "Find a tool" }).fill("shell");
    await page
      .getByRole("group", { name: "shell", exact: true })
      .last()
      .getByText("Allow", { exact: true })
      .click();
    await rightsOf(page, "shell").getByText("allowed").waitFor();
    await page.getByRole("tab", { name: /Problems/ }).click();
    await page.getByText(/looks read-only .*holds shell/).waitFor();
    await page.getByRole("tab", { name: "Raw" }).click();
    await page.getByText("tools: [read, grep, shell] # only looking").waitFor();
    expect(world.read(".retinue/agents/scribe.md")).toBe(SCRIBE);
    await save(page);
    expect(world.read(".retinue/agents/scribe.md")).toBe(
      SCRIBE.replace("[read, grep]", "[read, grep, shell]"),
    );
    expectQuiet(visitor);
  });

  test("the raw text and the form say the same, and a text that cannot be used is not saved", async () => {
    await using world = makeOffice();
    await using served = await serve(world, 0, ["--agent", "scribe"]);
    const { page } = await visit(browser, served);
    await go(page, "/agents/scribe");
    await page.getByRole("textbox", { name: "Description" }).fill("Reads letters aloud.");
    await page.getByRole("tab", { name: "Raw" }).click();
    const raw = page.getByRole("textbox", { name: /raw|file|text/i });
    await page.getByText("description: Reads letters aloud.").waitFor();
    await raw.fill(SCRIBE.replace("Reviews texts.", "Files papers.").replace("disallowedTools", ""));
    await page.getByRole("tab", { name: "Form" }).click();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Description" }).inputValue())
      .toBe("Files papers.");
    await page.getByRole("tab", { name: "Raw" }).click();
    await raw.fill(SCRIBE.replace("tools: [read, grep]", "disallowedTools: [shel]"));
    await page.getByRole("tab", { name: /Problems/ }).click();
    await page
      .getByText(/shel\b/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).first().click({ force: true });
    expect(world.read(".retinue/agents/scribe.md")).toBe(SCRIBE);
  });

  test("a circular delegation is marked, named and refused", async () => {
    await using world = makeOffice();
    await using served = await serve(world, 0, ["--agent", "scribe"]);
    const { page } = await visit(browser, served);
    await go(page, "/agents/clerk");
    await page.getByRole("tab", { name: "Raw" }).click();
    const raw = page.getByRole("textbox", { name: /raw|file|text/i });
    const before = world.read(".retinue/agents/clerk.md");
    await raw.fill(before.replace("tools: [read]", "tools: [read]\nsubagents: { allow: [scribe] }"));
    await page.getByRole("tab", { name: /Problems/ }).click();
    await page
      .getByText(/clerk → scribe → clerk/)
      .first()
      .waitFor();
    await page.getByRole("tab", { name: /Delegation/ }).click();
    await page
      .getByText(/circle|cycle/i)
      .first()
      .waitFor();
    const { hash } = (await (await page.request.get(`${served.url}/api/agents/clerk`)).json()) as {
      hash: string;
    };
    const circular = before.replace("tools: [read]", "subagents: { allow: [scribe] }");
    const answer = await page.request.put(`${served.url}/api/agents/clerk`, {
      headers: { origin: served.url },
      data: { text: circular, hash },
    });
    expect(answer.status()).toBe(422);
    expect(await answer.text()).toContain("clerk → scribe → clerk");
    expect(world.read(".retinue/agents/clerk.md")).toBe(before);
  });

  test("a call is tried without being made, with the word of every layer", async () => {
    await using world = makeOffice();
    await using served = await serve(world, 0, ["--agent", "scribe"]);
    const { page } = await visit(browser, served);
    await go(page, "/agents/scribe");
    await page.getByRole("tab", { name: "Try a call" }).click();
    const pane = page.getByRole("tabpanel", { name: "Try a call" });
    await pane.getByRole("combobox", { name: "Tool" }).click();
    await page
      .getByRole("option", { name: /^write\b/ })
      .first()
      .click();
    await pane.getByRole("textbox", { name: /as JSON/ }).fill('{"path": "tried.txt", "content": "x"}');
    await pane.getByRole("button", { name: "Try", exact: true }).click();
    await pane
      .getByText(/denied/)
      .first()
      .waitFor();
    await pane
      .getByText(/tools of scribe/)
      .first()
      .waitFor();
    expect(() => world.read("tried.txt")).toThrow();
  });

  test("a built-in agent is customised in a file of the project", async () => {
    await using world = makeOffice();
    await using served = await serve(world, 0, ["--agent", "scribe"]);
    const { page } = await visit(browser, served);
    await go(page, "/agents/reviewer");
    await page.getByRole("button", { name: /customise/i }).click();
    await page.getByRole("textbox", { name: "Description" }).fill("Reviews our shop only.");
    await save(page);
    expect(world.read(".retinue/agents/reviewer.md")).toContain("Reviews our shop only.");
  });
});
