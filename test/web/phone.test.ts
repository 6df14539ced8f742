import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, startBrowser } from "../fixtures/browser.ts";
import { serve, visit } from "./served.ts";
import { makeTeam } from "./team.ts";

const THEME = "document.documentElement.dataset.theme";

describe.skipIf(!hasBrowser)("on a phone", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("the screens without room in the bar, the theme and the commands are under More", async () => {
    await using team = await makeTeam();
    await using served = await serve(team.world, 0, ["--agent", "lead"]);
    const { page, faults } = await visit(browser, served, {
      viewport: { width: 390, height: 844 },
      colorScheme: "dark",
    });
    const more = page.getByRole("button", { name: "More" });
    await more.click();
    await page.getByRole("menuitemradio", { name: "System theme", checked: true }).waitFor();
    expect(await page.evaluate(THEME)).toBe("dark");
    await page.getByRole("menuitemradio", { name: "Light theme" }).click();
    await page.getByRole("menuitemradio", { name: "Light theme", checked: true }).waitFor();
    expect(await page.evaluate(THEME)).toBe("light");
    await page.getByRole("menuitem", { name: "Stats" }).click();
    await page.getByRole("heading", { name: "Stats", level: 1 }).waitFor();
    await more.click();
    await page.getByRole("menuitem", { name: "Find anything" }).click();
    await page.getByRole("combobox", { name: "Find a screen, session or agent" }).fill("health");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Health", level: 1 }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
