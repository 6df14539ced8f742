import { cancelUnheld } from "../../runtime/record/cancel-recorded.ts";
import { RetinueError } from "../../schema/error.ts";
import { listSome } from "../../schema/list-some.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import type { StopRequest } from "../../store/stop-table.ts";
import { EXIT } from "../exit-code.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainJson } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { findSession, noSessions } from "../trace/find-session.ts";
import { withRecord } from "../trace/open-record.ts";

/** Options of `retinue cancel`. */
export type CancelOptions = CommonOptions & { wait: boolean };

/** What became of the wish; `asked` means that the process which has it has not said so yet. */
type Outcome = { outcome: "cancelled" | "ended" | "asked" | "noted"; message: string };

const WAIT_MS = 15_000;
const LOOK_MS = 100;

/** `retinue cancel`: ends a session or a run of another process, or one that no process has any more. */
export async function cancelWork(id: string, options: CancelOptions, terminal: Terminal): Promise<number> {
  const done = await withRecord(terminal, async (store) => {
    const request = findWork(store, id, options, terminal);
    return { ...request, ...(await cancel(store, request, options.wait)) };
  });
  if (!done) throw noSessions(id);
  const { sessionId, id: what, outcome, message } = done;
  if (options.json) terminal.print(plainJson({ session_id: sessionId, id: what, outcome, message }, 2));
  else terminal.print(message);
  return outcome === "asked" && options.wait ? EXIT.failed : EXIT.ok;
}

async function cancel(store: Store, request: StopRequest, wait: boolean): Promise<Outcome> {
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
    const status = statusOf(store, request);
    if (status !== "running") return ended(store, request, status);
    if (!store.holderOf(sessionId)) return cancelDead(store, request);
  }
  return { outcome: "asked", message: `${holder} was asked to end ${id} and has not done so yet` };
}

/** It may have ended by itself in the same moment, and then the wish must not hit what comes next. */
function ended(store: Store, { sessionId, id }: StopRequest, status: string): Outcome {
  if (store.findSession(sessionId).status !== "running") store.forgetStops(sessionId);
  if (status === "cancelled") return { outcome: "cancelled", message: `cancelled ${id}` };
  return { outcome: "ended", message: `${id} had ended before it could be cancelled (${status})` };
}

async function cancelDead(store: Store, request: StopRequest): Promise<Outcome> {
  const { sessionId, id } = request;
  const outcome = await cancelUnheld(store, request, "retinue cancel");
  if (!outcome) return ended(store, request, statusOf(store, request));
  if (outcome === "cancelled") return { outcome, message: `cancelled ${id}; no process had it` };
  const message = `no process has ${sessionId}; ${id} is ended when somebody calls: retinue resume ${sessionId}`;
  return { outcome, message };
}

function refuseEnded(store: Store, { status }: SessionRow, request: StopRequest): void {
  const known = status === "running" ? statusOf(store, request) : status;
  if (known === "running") return;
  throw new RetinueError(
    "input",
    `${request.id} has ended (${known}); there is nothing to cancel`,
    "see what runs with: retinue sessions",
  );
}

/** How far the session or the run is, as far as the record knows; retries of a run share its id. */
function statusOf(store: Store, { sessionId, id }: StopRequest): string {
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
