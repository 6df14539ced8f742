import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { type Furnished, furnish } from "./furnished.ts";
import type { Visitor } from "./served.ts";
import { go, settle } from "./walk.ts";

let browser: Browser;
let furnished: Furnished;

/** What has the focus: its name or words, and whether a person sees that it has. */
type Focus = { role: string; name: string; isField: boolean; isSeen: boolean };

/** The element itself, what it is made of or what surrounds it must be outlined or framed in the accent's colour. */
const FOCUS = `(() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = "var(--accent)";
  const accent = getComputedStyle(probe).color;
  probe.remove();
  const near = [at, ...at.querySelectorAll(":scope > *, :scope > * > *"), at.parentElement, at.parentElement?.parentElement];
  const isSeen = near.some((one) => {
    if (!one) return false;
    const { outlineStyle, outlineWidth, borderTopColor, borderBottomColor, borderBottomWidth } = getComputedStyle(one);
    const isFramed = [borderTopColor, borderBottomColor].includes(accent) && borderBottomWidth !== "0px";
    return (outlineStyle !== "none" && outlineWidth !== "0px") || isFramed;
  });
  const label = at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent ?? "";
  const role = at.getAttribute("role") ?? at.tagName.toLowerCase();
  return { role, name: label.trim().slice(0, 200), isField: /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || at.isContentEditable, isSeen };
})()`;

async function focusOf(page: Page): Promise<Focus | null> {
  return (await page.evaluate(FOCUS)) as Focus | null;
}

/** Something has the focus, and it is seen. */
async function expectFocus(page: Page, what: string): Promise<Focus> {
  await settle(page);
  const focus = await focusOf(page);
  expect([what, focus]).toEqual([what, expect.objectContaining({ isSeen: true })]);
  if (focus === null) throw new Error("nothing has the focus");
  return focus;
}

/** Presses Tab until something of that name has the focus; every stop on the way must be visible. */
async function tabTo(page: Page, name: RegExp, keys = "Tab"): Promise<Focus> {
  const passed: string[] = [];
  for (let stops = 0; stops < 120; stops++) {
    await page.keyboard.press(keys);
    const focus = await focusOf(page);
    if (focus === null) continue;
    passed.push(`${focus.role} ${focus.name.slice(0, 40)}`);
    expect([page.url(), focus]).toEqual([page.url(), expect.objectContaining({ isSeen: true })]);
    if (name.test(focus.name)) return focus;
  }
  throw new Error(`no way to ${name} at ${page.url()}: ${passed.join(" | ")}`);
}

/** Letters are commands only outside fields. */
async function leaveField(page: Page): Promise<void> {
  for (let stops = 0; stops < 20 && (await focusOf(page))?.isField; stops++) await page.keyboard.press("Tab");
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
  await settle(page);
}

/** Presses a key until a place is reached by it. */
async function stepTo(page: Page, key: string, name: RegExp): Promise<Focus> {
  for (let steps = 0; steps < 60; steps++) {
    await press(page, key);
    const focus = await expectFocus(page, key);
    if (name.test(focus.name)) return focus;
  }
  throw new Error(`'${key}' never came to ${name} at ${page.url()}`);
}

/** A person at the first page, whose field is ready to be written into. */
async function arrive(): Promise<Visitor> {
  const visitor = await furnished.enter(browser);
  await visitor.page.getByRole("textbox", { name: "Message" }).waitFor();
  await settle(visitor.page);
  return visitor;
}

/** Goes to another screen by its two keys. */
async function goBy(page: Page, key: string): Promise<void> {
  await leaveField(page);
  await press(page, "g", key);
}

describe.skipIf(!hasBrowser)("with the keyboard alone a person", () => {
  beforeAll(async () => {
    browser = await startBrowser();
    furnished = await furnish(browser);
  });
  afterAll(async () => {
    await furnished?.[Symbol.asyncDispose]();
    await browser?.close();
  });

  test("starts a chat, goes through its cards, folds them and opens a run in the trace", async () => {
    const { page, faults } = await arrive();
    if ((await focusOf(page))?.name !== "Message") await tabTo(page, /^Message$/);
    await page.keyboard.type("What is around us?");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/ses_/);
    await page.getByText("look south").first().waitFor();
    await leaveField(page);
    await stepTo(page, "j", /mid/);
    const row = page.locator(":focus");
    expect(await row.getAttribute("aria-expanded")).toBe("true");
    await press(page, "h");
    expect(await row.getAttribute("aria-expanded")).toBe("false");
    await press(page, "l");
    expect(await row.getAttribute("aria-expanded")).toBe("true");
    await stepTo(page, "j", /leaf/);
    await stepTo(page, "k", /mid/);
    await press(page, "Enter");
    await page.waitForURL(/\/trace\/ses_.*run=run_/);
    furnished.team.leaves.release();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("reads a run in the trace from tab to tab, and comes back to the row it was opened from", async () => {
    const { page, faults } = await arrive();
    await goBy(page, "r");
    expect(new URL(page.url()).pathname).toBe("/runs");
    await stepTo(page, "j", /Fix the cart/);
    await press(page, "t");
    await page.waitForURL(/\/trace\/ses_done/);
    await settle(page);
    await stepTo(page, "j", /part 2/);
    await press(page, "Enter");
    await page.getByRole("tab", { name: "Result" }).waitFor();
    await tabTo(page, /^Result$/);
    for (const name of ["Tools", "Files", "Permissions", "Raw"]) {
      await press(page, "ArrowRight");
      expect((await expectFocus(page, name)).name).toBe(name);
      await press(page, "Enter");
      expect(await page.getByRole("tab", { name }).getAttribute("aria-selected")).toBe("true");
    }
    await tabTo(page, /^Close the run$/, "Shift+Tab");
    await press(page, "Enter");
    expect((await expectFocus(page, "the row")).name).toMatch(/part 2/);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("opens a session from the list", async () => {
    const { page } = await arrive();
    await goBy(page, "r");
    await stepTo(page, "j", /Fix the cart/);
    await press(page, "Enter");
    await page.waitForURL(/\/chat\/ses_done/);
    await page.context().close();
  });

  test("allows one call and denies another with a reason", async () => {
    const { page, faults } = await arrive();
    await furnished.start("writer", "Write it down");
    await furnished.start("messenger", "Tell Ruth");
    await goBy(page, "p");
    await page.getByRole("link", { name: /Approvals.*2/ }).waitFor();
    await settle(page);
    await tabTo(page, /asks|write/);
    await press(page, "Enter");
    const write = page.getByRole("region", { name: /asks to use write/ });
    await write.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await press(page, "y");
    const mail = page.getByRole("region", { name: /asks to use gmail_send_email/ });
    await mail.getByRole("button", { name: "Deny", disabled: false }).waitFor();
    await expectFocus(page, "the next question");
    await tabTo(page, /^Note for a denial$/);
    await page.keyboard.type("call her instead");
    await press(page, "Enter");
    await page
      .getByText(/nothing (waits|needs)/i)
      .first()
      .waitFor();
    await expectFocus(page, "after the last answer");
    while (!furnished.team.requestsOf("messenger").at(-1)?.last.includes("call her instead"))
      await new Promise((resolve) => setImmediate(resolve));
    expect(furnished.team.world.read("notes.txt")).toBe("first line\n");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("changes an agent and saves it", async () => {
    const { page, faults } = await arrive();
    await goBy(page, "a");
    await stepTo(page, "j", /writer/);
    await press(page, "Enter");
    await page.waitForURL(/\/agents\/writer/);
    await settle(page);
    await tabTo(page, /^Description/);
    await press(page, "ControlOrMeta+a");
    await page.keyboard.type("Keeps notes.");
    await page.getByRole("button", { name: "Discard" }).waitFor();
    await press(page, "ControlOrMeta+s");
    await page.getByRole("dialog").waitFor();
    await tabTo(page, /^Save$/);
    await press(page, "Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expectFocus(page, "after the dialog");
    expect(furnished.team.world.read(".retinue/agents/writer.md")).toContain("description: Keeps notes.");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("finds anything by the commands, reads the keys, and chooses a theme", async () => {
    const { page, faults } = await arrive();
    await goBy(page, "r");
    await stepTo(page, "j", /Fix the cart/);
    await press(page, "?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await expectFocus(page, "the help");
    await press(page, "Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await expectFocus(page, "after the help")).name).toMatch(/Fix the cart/);
    await press(page, "ControlOrMeta+k");
    await expectFocus(page, "the commands");
    await page.keyboard.type("dark");
    await press(page, "Enter");
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expectFocus(page, "after the commands");
    await press(page, "ControlOrMeta+k");
    await page.keyboard.type("fix");
    await press(page, "ArrowDown", "ArrowUp", "Enter");
    await page.waitForURL(/\/chat\/ses_done/);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // The row that had it is gone with its screen; the next key must still be heard from within the new one.
    expect(await focusOf(page)).not.toBeNull();
    await goBy(page, "h");
    expect(new URL(page.url()).pathname).toBe("/health");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("reaches everything on every screen and always sees where he is", async () => {
    const { page } = await arrive();
    for (const path of [
      "/",
      "/runs",
      "/chat/ses_done",
      "/trace/ses_done",
      "/runs?ticked=ses_done,ses_again",
      "/compare?a=ses_done&b=ses_again",
      "/plans/plan_cart",
      "/stats",
      "/health",
    ]) {
      await go(page, path);
      for (let stops = 0; stops < (process.env.RETINUE_DEEP ? 60 : 20); stops++) {
        await page.keyboard.press("Tab");
        const focus = await focusOf(page);
        // The frame of a field is drawn a moment after it has the focus.
        if (focus !== null && focus.role !== "body" && !focus.isSeen) await expectFocus(page, path);
      }
    }
    await page.context().close();
  });
});
