import type { Record, StopRequest } from "@retinue/core/record/record";
import { RetinueError } from "@retinue/core/schema/error";
import { listSome } from "@retinue/core/schema/list-some";
import type { SessionRow } from "@retinue/core/schema/record";
import { cancelUnheld } from "@retinue/core/session/cancel-recorded";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { createNoneYetError, findSession, requireRecord } from "../open-record.ts";
import { type Cli, printResult } from "../terminal.ts";

/** Declares `retinue cancel`. */
export default function registerCancel(command: CliCommand): void {
  command
    .description("end a session, or one run with everything below it, whichever process has it")
    .argument(
      "<id>",
      "id of a session or a run, or a unique beginning of it; `last` for this project's last session",
    )
    .option("--no-wait", "do not wait until it has ended")
    .examples("retinue cancel last", "retinue cancel run_abc")
    .performs(cancelWork);
}

type CancelOptions = { wait: boolean };

/** The outcome; `asked` means that the process at work has not confirmed it yet. */
type CancelOutcome = { outcome: "cancelled" | "ended" | "asked" | "noted"; message: string };

const WAIT_MS = 15_000;
const LOOK_MS = 100;

/** `retinue cancel`: ends a session or a run of another process, or one that no process has any more. */
async function cancelWork(id: string, cli: Cli<CancelOptions>): Promise<number> {
  const done = await requireRecord(cli, createNoneYetError(`session '${id}'`), async (record) => {
    const request = await findWork(record, id, cli);
    return { ...request, ...(await cancel(record, request, cli.options.wait)) };
  });
  const { sessionId, id: what, outcome, message } = done;
  printResult(cli, {
    value: { session_id: sessionId, id: what, outcome, message },
    text: () => message,
  });
  return outcome === "asked" && cli.options.wait ? EXIT.failed : EXIT.ok;
}

async function cancel(record: Record, request: StopRequest, wait: boolean): Promise<CancelOutcome> {
  const { sessionId, id } = request;
  const row = await record.findSession(sessionId);
  await refuseEnded(record, row, request);
  const holder = await record.findHolder(sessionId);
  if (!holder) return cancelDead(record, request);
  await record.askToStop(request);
  if (!wait) return { outcome: "asked", message: `asked ${holder} to end ${id}` };
  const untilMs = performance.now() + WAIT_MS;
  while (performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const status = await readStatus(record, request);
    if (status !== "running") return await ended(record, request, status);
    if (!(await record.findHolder(sessionId))) return cancelDead(record, request);
  }
  return { outcome: "asked", message: `${holder} was asked to end ${id} and has not done so yet` };
}

/** It may have ended by itself just now; then the request must not stop what comes next. */
async function ended(record: Record, { sessionId, id }: StopRequest, status: string): Promise<CancelOutcome> {
  if ((await record.findSession(sessionId)).status !== "running") await record.forgetStops(sessionId);
  if (status === "cancelled") return { outcome: "cancelled", message: `cancelled ${id}` };
  return { outcome: "ended", message: `${id} had ended before it could be cancelled (${status})` };
}

async function cancelDead(record: Record, request: StopRequest): Promise<CancelOutcome> {
  const { sessionId, id } = request;
  const outcome = await cancelUnheld(record, request, "retinue cancel");
  if (!outcome) return await ended(record, request, await readStatus(record, request));
  if (outcome === "cancelled") return { outcome, message: `cancelled ${id}; no process had it` };
  const message = `no process has ${sessionId}; ${id} ends when someone runs: retinue resume ${sessionId}`;
  return { outcome, message };
}

async function refuseEnded(record: Record, { status }: SessionRow, request: StopRequest): Promise<void> {
  const known = status === "running" ? await readStatus(record, request) : status;
  if (known === "running") return;
  throw new RetinueError(
    "input",
    `${request.id} has ended (${known}); there is nothing to cancel`,
    "see what runs with: retinue sessions",
  );
}

/** The recorded status of the session or the run; retries of a run share its id. */
async function readStatus(record: Record, { sessionId, id }: StopRequest): Promise<string> {
  if (id === sessionId) return (await record.findSession(sessionId)).status;
  const rows = (await record.readRows({ sessionId: sessionId, kind: "runs" })).filter(
    (row) => row.run_id === id,
  );
  return rows.some((row) => row.closed_seq === null) ? "running" : (rows.at(-1)?.status ?? "unknown");
}

async function findWork(record: Record, id: string, cli: Cli): Promise<StopRequest> {
  if (!id.startsWith("run_")) {
    const { session_id: sessionId } = await findSession(record, id, cli);
    return { sessionId, id: sessionId };
  }
  const found = await record.findRuns(id);
  const [only, ...others] = found;
  if (only && others.length === 0) return { sessionId: only.sessionId, id: only.id };
  if (!only) throw new RetinueError("input", `no run '${id}'`, "see them with: retinue trace last --json");
  const ids = listSome(found.map((one) => one.id));
  throw new RetinueError("input", `'${id}' fits several runs: ${ids}`, "give more of the id");
}
