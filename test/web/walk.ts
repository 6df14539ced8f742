import type { Page } from "playwright-core";

/** Goes to a place of the app without loading the page anew, as a link would, and waits until it is there. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
  await settle(page);
}

/** Waits until nothing stands where something will be, and the page has been drawn. */
export async function settle(page: Page): Promise<void> {
  await page.locator("[role=status][aria-label^=Loading]").first().waitFor({ state: "detached" });
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
}

/** Opens everything that can be unfolded, down to the end of every list, and gives all text that was in sight. */
export async function unfold(page: Page, within = "main"): Promise<string> {
  await settle(page);
  const texts: unknown = await page.evaluate(`(${unfoldAll})(${JSON.stringify(within)})`);
  await settle(page);
  return `${String(texts)}\n${await textOf(page)}`;
}

/** All text of the page, also in fields. */
export async function textOf(page: Page): Promise<string> {
  return String(
    await page.evaluate(
      `document.body.textContent + [...document.querySelectorAll("input, textarea")].map((field) => field.value).join("\\n")`,
    ),
  );
}

/** Runs in the page; a list draws only what is in sight, so each is gone through from above. */
const unfoldAll = `async (within) => {
  const FOLDED = [
    "[aria-expanded=false]:not([role=row]):not([role=combobox]):not([aria-haspopup])",
    "details:not([open]) > summary",
  ].map((each) => within + " " + each).join(", ");
  const drawn = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  const opened = new Set();
  const texts = [];
  const open = async () => {
    for (let round = 0; round < 5; round++) {
      const folded = [...document.querySelectorAll(FOLDED)].filter((one) => !opened.has(one));
      if (folded.length === 0) break;
      for (const one of folded) {
        opened.add(one);
        one.click();
      }
      await drawn();
    }
    texts.push(document.querySelector(within).textContent);
  };
  await open();
  const lists = [...document.querySelectorAll(within + " *")].filter(
    (one) => one.scrollHeight > one.clientHeight + 8 && /auto|scroll/.test(getComputedStyle(one).overflowY),
  );
  for (const list of lists)
    for (let at = 0; at < 40 && list.scrollTop + list.clientHeight < list.scrollHeight - 2; at++) {
      const before = list.scrollTop;
      list.scrollTop += Math.max(40, list.clientHeight - 40);
      await drawn();
      if (list.scrollTop <= before) break;
      await open();
    }
  return texts.join("\\n");
}`;
