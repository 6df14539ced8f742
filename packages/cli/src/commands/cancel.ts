import type { Store } from "@retinue/core/record/create-store";
import type { StopRequest } from "@retinue/core/record/stop-table";
import { RetinueError } from "@retinue/core/schema/error";
import { listSome } from "@retinue/core/schema/list-some";
import type { SessionRow } from "@retinue/core/schema/record";
import { cancelUnheld } from "@retinue/core/session/cancel-recorded";
import { writeJson } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import type { CommonOptions } from "../open-project.ts";
import { createNoSessionError, findSession, withRecord } from "../open-record.ts";
import type { Terminal } from "../terminal.ts";

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

/** Options of `retinue cancel`. */
type CancelOptions = CommonOptions & { wait: boolean };

/** The outcome; `asked` means that the process at work has not confirmed it yet. */
type CancelOutcome = { outcome: "cancelled" | "ended" | "asked" | "noted"; message: string };

const WAIT_MS = 15_000;
const LOOK_MS = 100;

/** `retinue cancel`: ends a session or a run of another process, or one that no process has any more. */
async function cancelWork(id: string, options: CancelOptions, terminal: Terminal): Promise<number> {
  const done = await withRecord(terminal, async (store) => {
    const request = findWork(store, id, options, terminal);
    return { ...request, ...(await cancel(store, request, options.wait)) };
  });
  if (!done) throw createNoSessionError(id);
  const { sessionId, id: what, outcome, message } = done;
  if (options.json) terminal.print(writeJson({ session_id: sessionId, id: what, outcome, message }, 2));
  else terminal.print(message);
  return outcome === "asked" && options.wait ? EXIT.failed : EXIT.ok;
}

async function cancel(store: Store, request: StopRequest, wait: boolean): Promise<CancelOutcome> {
  const { sessionId, id } = request;
  const row = store.findSession(sessionId);
  refuseEnded(store, row, request);
  const holder = store.holderOf(sessionId);
  if (!holder) return cancelDead(store, request);
  store.askToStop(request);
  if (!wait) return { outcome: "asked", message: `asked ${holder} to end ${id}` };
  const untilMs = performance.now() + WAIT_MS;
  while (performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const status = readStatus(store, request);
    if (status !== "running") return ended(store, request, status);
    if (!store.holderOf(sessionId)) return cancelDead(store, request);
  }
  return { outcome: "asked", message: `${holder} was asked to end ${id} and has not done so yet` };
}

/** It may have ended by itself just now; then the request must not stop what comes next. */
function ended(store: Store, { sessionId, id }: StopRequest, status: string): CancelOutcome {
  if (store.findSession(sessionId).status !== "running") store.forgetStops(sessionId);
  if (status === "cancelled") return { outcome: "cancelled", message: `cancelled ${id}` };
  return { outcome: "ended", message: `${id} had ended before it could be cancelled (${status})` };
}

async function cancelDead(store: Store, request: StopRequest): Promise<CancelOutcome> {
  const { sessionId, id } = request;
  const outcome = await cancelUnheld(store, request, "retinue cancel");
  if (!outcome) return ended(store, request, readStatus(store, request));
  if (outcome === "cancelled") return { outcome, message: `cancelled ${id}; no process had it` };
  const message = `no process has ${sessionId}; ${id} ends when someone runs: retinue resume ${sessionId}`;
  return { outcome, message };
}

function refuseEnded(store: Store, { status }: SessionRow, request: StopRequest): void {
  const known = status === "running" ? readStatus(store, request) : status;
  if (known === "running") return;
  throw new RetinueError(
    "input",
    `${request.id} has ended (${known}); there is nothing to cancel`,
    "see what runs with: retinue sessions",
  );
}

/** The recorded status of the session or the run; retries of a run share its id. */
function readStatus(store: Store, { sessionId, id }: StopRequest): string {
  if (id === sessionId) return store.findSession(sessionId).status;
  const rows = store.runs(sessionId).filter((row) => row.run_id === id);
  return rows.some((row) => row.closed_seq === null) ? "running" : (rows.at(-1)?.status ?? "unknown");
}

function findWork(store: Store, id: string, options: CommonOptions, terminal: Terminal): StopRequest {
  if (!id.startsWith("run_")) {
    const { session_id: sessionId } = findSession(store, id, options, terminal);
    return { sessionId, id: sessionId };
  }
  const found = store.runsLike(id);
  const [only, ...others] = found;
  if (only && others.length === 0) return { sessionId: only.sessionId, id: only.id };
  if (!only) throw new RetinueError("input", `no run '${id}'`, "see them with: retinue trace last --json");
  const ids = listSome(found.map((one) => one.id));
  throw new RetinueError("input", `'${id}' fits several runs: ${ids}`, "give more of the id");
}
