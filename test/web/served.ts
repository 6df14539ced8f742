import type { ChildProcess } from "node:child_process";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { World } from "../cli/world.ts";

/** A server of the built program in a world of its own; it is gone, with all its visitors, when it goes out of scope. */
export type Served = AsyncDisposable & {
  readonly url: string;
  readonly child: ChildProcess;
  /** A link that lets one browser in. */
  readonly link: string;
  readonly visitors: BrowserContext[];
  /** Ends it as a person would, or at once. */
  stop(signal?: NodeJS.Signals): Promise<void>;
};

/** Starts `retinue serve` and waits until it answers. A port is given to come back at the same address. */
export async function serve(world: World, port = 0, more: readonly string[] = []): Promise<Served> {
  const args = ["serve", "--no-open", "--json", "--port", String(port), ...more];
  const started = world.start(args, { env: { RETINUE_DISCOVER: "0" } });
  const { child, ended } = started;
  const said = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve(text);
    });
    void ended.then(({ code, stderr }) => reject(new Error(`serve ended with ${code}: ${stderr}`)));
  });
  const { url } = JSON.parse(said) as { url: string };
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    await ended;
  };
  const visitors: BrowserContext[] = [];
  return {
    url: new URL(url).origin,
    link: url,
    child,
    visitors,
    stop,
    async [Symbol.asyncDispose]() {
      for (const visitor of visitors) await visitor.close();
      await stop("SIGKILL");
    },
  };
}

/** A person at a browser that has been let in, and everything that must not happen on the page. */
export type Visitor = { context: BrowserContext; page: Page; faults: string[]; foreign: string[] };

/**
 * Opens the app in a context of its own, in which nothing moves that need not: painting takes most of a browser's time.
 * What the page asks of any other address, and every fault of it, is kept.
 */
export async function visit(
  browser: Browser,
  served: Served,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Visitor> {
  const viewport = { width: 1_440, height: 900 };
  const context = await browser.newContext({ viewport, reducedMotion: "reduce", ...options });
  served.visitors.push(context);
  const page = await context.newPage();
  const faults: string[] = [];
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob|about):/.test(request.url()) && !request.url().startsWith(served.url))
      foreign.push(request.url());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/net::ERR|Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  page.on("dialog", (dialog) => void dialog.dismiss().then(() => faults.push("a dialog")));
  await page.goto(served.link);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return { context, page, faults, foreign };
}

/** Nothing ran that should not, and nothing was asked of anybody else. */
export function expectQuiet({ faults, foreign }: Visitor): void {
  expect({ faults, foreign }).toEqual({ faults: [], foreign: [] });
}
