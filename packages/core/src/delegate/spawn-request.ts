import type { Conducted } from "../plan/conduct-run.ts";
import type { Deliverable, Limits } from "../schema/agent.ts";
import type { MessageNode } from "../schema/record.ts";
import type { Past } from "../session/fork-run.ts";
import type { LiveRun, Session } from "../session/host.ts";
import { heldPrivateData, wasTainted } from "../session/read-row.ts";
import type { Profile } from "./profile.ts";
import type { Program } from "./program-tool.ts";

/** A run that is about to begin. */
export type SpawnRequest = {
  session: Session;
  parent: LiveRun | null;
  profile: Profile;
  runId: string;
  /** What the person or the parent asked for, for the record. */
  task: string;
  /** The whole first message, with criteria, context and results. */
  message: string;
  /** The part of it that tells of other runs. */
  told?: string | undefined;
  contextMode?: string;
  /** Untrusted text is in the message although the parent holds none yet. */
  tainted?: boolean;
  /** Private data are in the message although the parent holds none yet. */
  privateData?: boolean;
  callId: string | null;
  /** The row that the run's row hangs from. */
  parentRowId: number | null;
  attempt: number;
  deliverables: readonly Deliverable[];
  /** How it is told that the task succeeded. */
  criteria?: string | undefined;
  limits?: Limits | undefined;
  /** A program asks for it below its parent, not the parent's model. */
  byProgram?: boolean | undefined;
  /** Set for a root run that the host leads by a plan. */
  conducted?: Conducted | undefined;
  /** Set for a root run that a program leads: the program, or null where it is not there any more. */
  program?: Program | null | undefined;
  /** The folder that relative paths begin in, relative to the project. */
  cwd?: string | undefined;
  /** The task's id in its batch. */
  taskId?: string | undefined;
  /** A recorded run whose conversation the new run begins with. */
  past?: Past | undefined;
  /** The recorded run to go on with, in its own row. */
  resume?: MessageNode | undefined;
};

/** Whether untrusted text is in a run from the start. */
export function isTainted({ tainted, parent, past }: SpawnRequest): boolean {
  return tainted || (parent?.run.tainted ?? false) || (past !== undefined && wasTainted(past.root));
}

/** Whether a run knows private data from the start. */
export function holdsPrivateData({ privateData, parent, past }: SpawnRequest): boolean {
  return (
    privateData || (parent?.run.privateData ?? false) || (past !== undefined && heldPrivateData(past.root))
  );
}
