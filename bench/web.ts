/**
 * Measures the server and the web app: fifty sub-agents that stream at once to ten watchers (CPU against the same work
 * unwatched, and how late text arrives), and a session of 100,000 messages opened in Chromium (time to the first rows,
 * long tasks while scrolling). `npm run bench:web` prints a table; `--quick` takes one round, `--large` only the session. Reports, asserts nothing.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { startBrowser } from "../test/fixtures/browser.ts";
import { writeLargeSession } from "./large-session.ts";

const ROUNDS = process.argv.includes("--quick") ? 1 : 3;
const WATCHERS = 10;
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const root = realpathSync(mkdtempSync(join(os.tmpdir(), "retinue-bench-web-")));
const project = join(root, "project");
const data = join(root, "data");
const children: ChildProcess[] = [];

type Served = { url: string; pid: number; cookie: string; stop(): Promise<void> };

/** Starts a program that prints one line of JSON when it is ready. */
function start(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ child: ChildProcess; said: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code}`)));
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      try {
        resolve({ child, said: JSON.parse(text) as Record<string, unknown> });
      } catch {
        // Not all of it yet.
      }
    });
  });
}

async function serve(env: Record<string, string>): Promise<Served> {
  const args = [here("../dist/cli.js"), "serve", "--no-open", "--json", "--port", "0", "-C", project];
  const { child, said } = await start(args, {
    HOME: root,
    XDG_CONFIG_HOME: join(root, "config"),
    RETINUE_HOME: data,
    ...env,
  });
  const link = new URL(String(said.url));
  const answer = await fetch(link, { redirect: "manual" });
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return {
    url: link.origin,
    pid: child.pid ?? 0,
    cookie,
    stop: () => ended(child),
  };
}

/** Ends a process and waits until it is gone. */
function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

/** Milliseconds of processor time that a process has used. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Reads a session's stream to its end and tells how late each text was. */
async function watch(
  { url, cookie }: Served,
  sessionId: string,
  signal: AbortSignal,
): Promise<{ lags: number[]; bytes: number }> {
  const lags: number[] = [];
  let bytes = 0;
  const response = await fetch(`${url}/api/sessions/${sessionId}/events?after=0`, {
    headers: { cookie },
    signal,
  });
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    const now = Date.now();
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    // What the record tells later holds old moments, too; only text under way says how late it is.
    for (const event of events.filter((one) => one.startsWith("event: live")))
      for (const [, at] of event.matchAll(/@(\d{13})@/g)) lags.push(now - Number(at));
    if (events.some((event) => /^event: session\n.*"state":"completed"/m.test(event))) break;
  }
  return { lags, bytes };
}

/** One session of fifty sub-agents with so many watchers: CPU of the server, and the lags. */
async function stream(
  served: Served,
  watchers: number,
): Promise<{ cpu: number; lags: number[]; bytes: number; wallMs: number }> {
  const before = cpuMs(served.pid);
  const begun = performance.now();
  const started = await fetch(`${served.url}/api/sessions`, {
    method: "POST",
    headers: { cookie: served.cookie, origin: served.url, "content-type": "application/json" },
    body: JSON.stringify({ task: "Let fifty talk", agent: "lead" }),
  });
  const { sessionId } = (await started.json()) as { sessionId: string };
  const controller = new AbortController();
  const watched = await Promise.all(
    Array.from({ length: watchers }, () => watch(served, sessionId, controller.signal)),
  );
  if (watchers === 0) await untilDone(served, sessionId);
  const wallMs = performance.now() - begun;
  const lags = watched.flatMap((one) => one.lags).sort((a, b) => a - b);
  return {
    cpu: cpuMs(served.pid) - before,
    lags,
    bytes: watched.reduce((sum, one) => sum + one.bytes, 0),
    wallMs,
  };
}

async function untilDone({ url, cookie }: Served, sessionId: string): Promise<void> {
  for (;;) {
    const detail = await fetch(`${url}/api/sessions/${sessionId}`, { headers: { cookie } });
    const { session } = (await detail.json()) as { session: { state: string } };
    if (session.state !== "running") return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
const median = (values: readonly number[]) =>
  at(
    [...values].sort((a, b) => a - b),
    0.5,
  );

function agent(name: string, fields: string): void {
  writeFileSync(
    join(project, ".retinue/agents", `${name}.md`),
    `---\nname: ${name}\ndescription: Plays ${name}.\n${fields}\n---\nYou are ${name}.\n`,
  );
}

async function streaming(rows: string[][]): Promise<void> {
  const { child: model, said } = await start([here("web-model.ts")], {});
  const served = await serve({ RETINUE_BASE_URL: `http://127.0.0.1:${said.port}/v1`, RETINUE_MODEL: "mock" });
  const unwatched: number[] = [];
  const watched: number[] = [];
  const lags: number[] = [];
  let bytes = 0;
  let wallMs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    unwatched.push((await stream(served, 0)).cpu);
    const one = await stream(served, WATCHERS);
    watched.push(one.cpu);
    for (const lag of one.lags) lags.push(lag);
    bytes = one.bytes;
    wallMs = one.wallMs;
  }
  lags.sort((a, b) => a - b);
  rows.push(
    [
      "50 streaming sub-agents, 10 watchers: server CPU against nobody watching",
      `${(median(watched) / median(unwatched)).toFixed(2)} ×`,
    ],
    ["the same, share of one core", `${((median(watched) / wallMs) * 100).toFixed(0)} %`],
    [
      "text's way from the model to a watcher, median / p95 / most",
      `${at(lags, 0.5)} / ${at(lags, 0.95)} / ${at(lags, 1)} ms`,
    ],
    ["sent to each watcher", `${(bytes / WATCHERS / 1_000).toFixed(0)} KB`],
  );
  await served.stop();
  model.kill();
}

async function largeSession(rows: string[][]): Promise<void> {
  mkdirSync(data, { recursive: true });
  const record = createSqliteRecord({ path: join(data, "retinue.db") });
  const { sessionId, runs, messages } = await writeLargeSession(record, project);
  await record.close();
  const served = await serve({});
  const browser = await startBrowser();
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  await context.addInitScript(WATCH_ROWS);
  const [name = "", value = ""] = served.cookie.split("=");
  await context.addCookies([{ name, value, url: served.url }]);
  for (const path of [`/chat/${sessionId}`, `/trace/${sessionId}`]) {
    const times: number[] = [];
    let long = "";
    for (let round = 0; round < Math.max(3, ROUNDS); round++) {
      const page = await context.newPage();
      await page.goto(served.url + path, { waitUntil: "commit" });
      await page.locator('[role="row"][aria-level]').nth(3).waitFor();
      times.push(
        await page.evaluate<number>("new Promise(requestAnimationFrame).then(() => globalThis.firstRowsMs)"),
      );
      // In the chat they stand behind a bar; opened, they are something to scroll through.
      if (path.startsWith("/chat"))
        await page
          .getByRole("button", { name: /100 sub-agents/ })
          .first()
          .click();
      long = await page.evaluate<string>(SCROLL);
      await page.close();
    }
    rows.push(
      [
        `${path.slice(1, 6)} of ${runs.toLocaleString("en-US")} runs and ${messages.toLocaleString("en-US")} messages: first rows after`,
        `${median(times).toFixed(0)} ms`,
      ],
      ["the same, scrolled through: frames over 50 ms", long],
    );
  }
  await browser.close();
  await served.stop();
}

/** Notes in the page when the fourth row of the tree is there, a frame later, when it has been drawn. */
const WATCH_ROWS = `new MutationObserver((_, observer) => {
  if (document.querySelectorAll('[role="row"][aria-level]').length < 4) return;
  observer.disconnect();
  requestAnimationFrame(() => { globalThis.firstRowsMs = performance.now(); });
}).observe(document, { childList: true, subtree: true })`;

/** Scrolls for three seconds' worth of frames and counts those that came late; in the page, hence a text. */
const SCROLL = `(async () => {
  const tall = [...document.querySelectorAll("*")].filter((one) => one.scrollHeight > one.clientHeight + 2000);
  const scroller = tall.at(-1);
  if (!scroller) return "nothing to scroll";
  let late = 0, worst = 0, before = performance.now();
  for (let frame = 0; frame < 180; frame++) {
    scroller.scrollTop += 400;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    if (now - before > 50) late++;
    worst = Math.max(worst, now - before);
    before = now;
  }
  return late + " of 180, worst " + worst.toFixed(0) + " ms";
})()`;

mkdirSync(join(project, ".retinue/agents"), { recursive: true });
agent("lead", "subagents: { allow: [talker], maxConcurrent: 50 }\nlimits: { minutes: 20 }");
agent("talker", "tools: [read]\nlimits: { minutes: 20 }");
const rows: string[][] = [];
try {
  if (!process.argv.includes("--large")) await streaming(rows);
  await largeSession(rows);
} finally {
  await Promise.all(children.map(ended));
  rmSync(root, { recursive: true, force: true });
}
const width = Math.max(...rows.map(([what = ""]) => what.length));
for (const [what = "", value = ""] of rows) console.log(`${what.padEnd(width)}  ${value}`);
