import type { Clock } from "@retinue/core/budget/clock";
import type { Environment } from "@retinue/core/models/providers";
import type { BlobStore } from "@retinue/core/record/blob-store";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import type { HealthView } from "@retinue/core/schema/api/inspect";
import type { Approval, MessageRow, SessionRow } from "@retinue/core/schema/record";
import { realFolder } from "@retinue/core/session/open-session";
import type { AnyTool } from "@retinue/core/tools/tool";
import type { Feeds } from "./feed/feeds.ts";
import type { PersonsDesk } from "./feed/persons-desk.ts";
import { NotFound } from "./http/http-errors.ts";
import type { LiveProject } from "./live-project.ts";

/** What the routes work with. */
export type ServerDesk = {
  readonly runtime: Runtime;
  readonly project: LiveProject;
  readonly tools: readonly AnyTool[];
  readonly blobs: BlobStore;
  readonly feeds: Feeds;
  /** Where calls wait for a person's approval. */
  readonly person: PersonsDesk;
  /** The variables that keys and models are found by. */
  readonly env?: Environment;
  readonly version: string;
  readonly startedAtMs: number;
  /** The agent that answers unless another is chosen. */
  readonly agent: string;
  /** The model that is chosen for every root run; undefined leaves it to agents and settings. */
  readonly model: string | undefined;
  readonly permissionMode: string;
  /** Sessions whose tool calls wait a moment each, to be watched. */
  readonly paced: Set<string>;
  /** Looks at everything that a run needs; handed in by the code that starts the server. */
  checkHealth(): Promise<HealthView["checks"]>;
};

/** The project's folder as the record names it. */
export function readProjectFolder({ project }: Pick<ServerDesk, "project">): string {
  return realFolder(project.projectDir);
}

/** A session of this project; those of other projects count as absent. */
export async function ownSession(
  desk: Pick<ServerDesk, "project" | "runtime">,
  sessionId: string,
): Promise<SessionRow> {
  const row = await findOwnSession(desk, sessionId);
  if (row) return row;
  throw new NotFound(`there is no session '${sessionId}' in this project`);
}

async function findOwnSession(
  desk: Pick<ServerDesk, "project" | "runtime">,
  sessionId: string,
): Promise<SessionRow | undefined> {
  const row = await desk.runtime.record.readSession(sessionId);
  return row?.project === readProjectFolder(desk) ? row : undefined;
}

/** A run of this project by its latest attempt, with its session. */
export async function ownRun(
  desk: Pick<ServerDesk, "project" | "runtime">,
  runId: string,
): Promise<{ row: MessageRow; session: SessionRow }> {
  const row = (await desk.runtime.record.readRows({ runIds: [runId], kind: "runs" })).at(-1);
  const session = row && (await findOwnSession(desk, row.session_id));
  if (session) return { row, session };
  throw new NotFound(`there is no run '${runId}' in this project`);
}

/** A question that a call of this project asked; what there is in other projects is not told. */
export async function ownApproval(
  desk: Pick<ServerDesk, "project" | "runtime">,
  approvalId: string,
): Promise<{ approval: Approval; session: SessionRow }> {
  const approval = await desk.runtime.record.findApproval(approvalId).catch(() => undefined);
  const session = approval && (await findOwnSession(desk, approval.sessionId));
  if (session && approval.approvalId === approvalId) return { approval, session };
  throw new NotFound(`there is no approval '${approvalId}' in this project`);
}

/** The model of a root run: the one that was asked for, or else the one that the server was started with. */
export function chooseModel(
  { model: usual }: Pick<ServerDesk, "model">,
  asked: string | undefined,
): { model?: string } {
  const model = asked ?? usual;
  return model === undefined ? {} : { model };
}

/** Throws why nothing can be written: what began now would only wait, and nobody would know. */
export async function mustBeWritable({ runtime }: Pick<ServerDesk, "runtime">): Promise<void> {
  const problem = await runtime.record.writeProblem();
  if (problem) throw problem;
}

/** Whom work in the background tells how it went, and what it is timed by. */
export type BackgroundPorts = {
  tell(message: string): void;
  onFault(thrown: unknown): void;
  readonly clock?: Clock;
};
