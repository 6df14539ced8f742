import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { expect, test } from "vitest";
import { World } from "../cli/world.ts";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { writeSession } from "../fixtures/recorded-session.ts";
import { faultsOf } from "./faults-of.ts";
import { expectQuiet, serve, visit } from "./served.ts";

const NAMES = ["first", "second", "third", "fourth"];

test.skipIf(!hasBrowser)(
  "sessions are ticked with the keyboard and deleted at once, what goes and what stays being shown first",
  async () => {
    await using browser = await startBrowser();
    await using world = new World();
    mkdirSync(world.data, { recursive: true });
    const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
    for (const name of NAMES)
      await writeSession(record, {
        sessionId: `ses_${name}`,
        title: `The ${name} one`,
        project: world.project,
        runs: [{ agent: "main", task: name, from: 0, to: 1_000 }],
      });
    await using served = await serve(world);
    const visitor = await visit(browser, served);
    const { page } = visitor;
    // One of those that are ticked was deleted in the meantime.
    await page.goto(`${served.url}/runs?ticked=ses_gone`);
    const row = (name: string) => page.getByRole("row", { name: `The ${name} one` });
    await row("first").waitFor();
    // The last changed stands first.
    for (const key of ["j", "j", " ", "j", " ", "j", " "]) await page.keyboard.press(key);
    const bar = page.getByRole("region", { name: "Ticked sessions" });
    await bar.getByText("4 ticked", { exact: true }).waitFor();
    await page.keyboard.press("c");
    await page.getByText("Two sessions are compared, and 4 are ticked.").waitFor();
    await bar.getByRole("button", { name: "Delete…" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Delete for good?" });
    const listed = (name: string) =>
      dialog.getByRole("region", { name }).getByRole("listitem").allInnerTexts();
    await dialog.getByText("3 sessions, about").waitFor();
    expect((await listed("What is deleted")).map((text) => text.split(",")[0])).toEqual([
      "The third one",
      "The second one",
      "The first one",
    ]);
    expect(await listed("What is kept")).toEqual(["ses_gone stays: it is not there"]);
    expect(await faultsOf(page)).toEqual([]);
    expect((await record.listSessions()).sessions).toHaveLength(4);
    await dialog.getByRole("button", { name: "Delete" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Deleted 3 sessions").waitFor();
    await bar.waitFor({ state: "detached" });
    await row("first").waitFor({ state: "detached" });
    expect((await record.listSessions()).sessions.map(({ session_id: id }) => id)).toEqual(["ses_fourth"]);
    // The keyboard is back in the list.
    await page.locator('[data-session="ses_fourth"]:focus').waitFor();
    expectQuiet(visitor);
    await record.close();
  },
);
