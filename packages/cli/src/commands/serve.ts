import { LONGEST_TIMER_MS } from "@retinue/core/budget/clock";
import { readVersion } from "@retinue/core/files/package-root";
import { machineFault } from "@retinue/core/record/sqlite/sqlite-failure";
import { messageOf } from "@retinue/core/schema/error";
import { stripControls } from "@retinue/core/text/plain-text";
import { type OpenedServer, openServer } from "@retinue/server/open-server";
import { findRunningServer } from "@retinue/server/running-server";
import { InvalidArgumentError } from "commander";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { openBrowser } from "../open-browser.ts";
import { openWorkingProject } from "../open-project.ts";
import { parseCount, type SharedOptions } from "../options.ts";
import { isInForeground } from "../progress/stage.ts";
import type { Cli, Terminal } from "../terminal.ts";
import { pickAgent } from "../work/run-options.ts";
import { catchSignals } from "../work/stop-signals.ts";
import { checkHealth } from "./doctor.ts";

const HIGHEST_PORT = 65_535;

/** Declares `retinue serve`, which is also what `npm start` alone does. */
export default function registerServe(command: CliCommand): void {
  command
    .description("open the web app: watch agents work, answer them, edit them; on this machine only")
    .option("--port <n>", "listen here; 7477 or the next free one by default", parsePort)
    .option("--host <name>", "127.0.0.1, localhost or ::1", "127.0.0.1")
    .option("--no-open", "open no browser, only print the link")
    .shares("agent", "model", "permissionMode")
    .option("--approval-minutes <n>", "deny what nobody answers for so long; 0 is never", parseCount, 60)
    .examples("retinue serve", "retinue serve --port 8080 --no-open")
    .performs(serveApp);
}

function parsePort(text: string): number {
  const port = parseCount(text);
  if (port <= HIGHEST_PORT) return port;
  throw new InvalidArgumentError(`It must be at most ${HIGHEST_PORT}.`);
}

type ServeOptions = Pick<SharedOptions, "agent" | "model" | "permissionMode"> & {
  port?: number;
  host?: string;
  open?: boolean;
  approvalMinutes: number;
};

/** Where a server is. */
type Place = { url: string; port: number; pid: number };

/** Work that has not ended this long after the grace period is abandoned: it resumes at the next start. */
const LEAVE_MS = 2_500;

/**
 * `retinue serve`: serves the web app until it is told to stop, which is what it was started for, so that it ends with 0.
 * If a server of the same project runs already, it gives a link to that one.
 */
async function serveApp(cli: Cli<ServeOptions>): Promise<number> {
  const project = await openWorkingProject(cli);
  const { projectDir, places } = project;
  // The web app is where a broken `main` can be seen and corrected; until then each task for it is refused.
  const isOpenToRepair = cli.options.agent === undefined && project.registry.getBroken("main") !== undefined;
  const agent = isOpenToRepair ? "main" : pickAgent(project.registry, cli.options.agent);
  const running = await findRunningServer({ dataDir: places.dataDir, projectDir });
  if (running) {
    cli.tell(`a server of this project runs already (process ${running.pid}); this is a link to it`);
    show({ url: await running.link(), port: running.port, pid: running.pid }, cli);
    return EXIT.ok;
  }
  const signals = catchSignals(cli);
  try {
    const server = await openServer({
      project,
      projectDir,
      env: cli.env,
      agent,
      model: cli.options.model,
      permissionMode: cli.options.permissionMode ?? "default",
      approvalMinutes: cli.options.approvalMinutes,
      host: cli.options.host,
      port: cli.options.port,
      version: readVersion(),
      checkHealth: () => checkHealth(cli),
      onFault: (thrown, request) => cli.tell(faultText(thrown, request, cli)),
      onNotice: (message) => cli.tell(stripControls(message)),
    });
    show({ url: server.link(), port: server.port, pid: process.pid }, cli);
    await untilStopped(server, signals.onStop, cli);
    return await leave(server, project.settings.graceSeconds * 1_000, cli);
  } finally {
    signals.release();
  }
}

function show(place: Place, cli: Cli<ServeOptions>): void {
  if (cli.options.json) {
    cli.print(JSON.stringify(place));
    return;
  }
  cli.print(place.url);
  if (cli.options.open === false || !cli.hasScreen || !openBrowser(place.url, cli.env))
    cli.tell("open it in a browser; it works once and for ten minutes");
}

/** Waits for a signal; until then Enter prints another link, if this is a terminal. */
async function untilStopped(
  server: OpenedServer,
  onStop: (stop: () => void) => void,
  terminal: Terminal,
): Promise<void> {
  const { stdin } = terminal;
  const giveLink = () => terminal.print(server.link());
  const isWatched = stdin.isTTY && (await isInForeground());
  if (isWatched) {
    terminal.tell("Enter prints a new link, Ctrl-C stops the server");
    stdin.on("data", giveLink);
  }
  await new Promise<void>((resolve) =>
    onStop(() => {
      stdin.off("data", giveLink);
      if (isWatched) stdin.pause();
      resolve();
    }),
  );
}

async function leave(server: OpenedServer, graceMs: number, terminal: Terminal): Promise<number> {
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), Math.min(graceMs + LEAVE_MS, LONGEST_TIMER_MS));
  const closed = server.close(graceMs).then(
    () => EXIT.ok,
    (thrown) => {
      terminal.tell(stripControls(`while stopping: ${messageOf(thrown)}`));
      return EXIT.failed;
    },
  );
  const how = await Promise.race([closed, late]);
  clearTimeout(timer);
  if (how === "late") return leaveLate(server, terminal);
  setTimeout(() => process.exit(how), LEAVE_MS / 10).unref();
  return how;
}

/** A call that does not stop is resumed at the next start; what could not be written is lost. */
async function leaveLate({ desk }: OpenedServer, terminal: Terminal): Promise<never> {
  const problem = await desk.runtime.record.writeProblem();
  if (problem) terminal.tell(stripControls(`not everything could be written: ${problem.message}`));
  process.exit(problem ? EXIT.failed : EXIT.ok);
}

function faultText(thrown: unknown, request: string, { env }: Terminal): string {
  const detail = env.RETINUE_DEBUG && thrown instanceof Error ? `\n${thrown.stack ?? ""}` : "";
  const known = machineFault(thrown);
  if (known) return stripControls(`${request}: ${known.message}${known.hint ? `. ${known.hint}` : ""}`);
  return stripControls(`a defect of Retinue, please report it: ${request}: ${messageOf(thrown)}${detail}`);
}
