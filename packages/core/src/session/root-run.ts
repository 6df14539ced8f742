import { requireAgent } from "../agents/registry.ts";
import { pastOf } from "../delegate/fork-run.ts";
import { askForForm } from "../delegate/judge-criteria.ts";
import { createProfile } from "../delegate/profile.ts";
import { hadProjectText } from "../delegate/recall-session.ts";
import { type Reader, resultText } from "../delegate/result-text.ts";
import { createConductor } from "../run/conductor.ts";
import { metadataOf } from "../run/read-row.ts";
import type { Profile, Session, SpawnRequest } from "../run/run.ts";
import type { Agent, Deliverable, Limits } from "../schema/agent.ts";
import { RetinueError } from "../schema/error.ts";
import type { Conducted } from "../schema/plan.ts";
import type { ForkPoint, MessageNode, Past } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";

/** One task for a root run. */
export type RunRequest = {
  agent: string;
  task: string;
  model?: string;
  /** Only these of the agent's tools. */
  tools?: readonly string[];
  limits?: Limits;
  deliverables?: readonly Deliverable[];
  /** Begins with the conversation of a recorded session at one of its seqs. */
  fork?: ForkPoint;
  /** Goes on in this session, with its conversation so far, instead of in one of its own. */
  session?: string;
  /** Results of other runs that the agent is told of with its task, marked as data. */
  reports?: readonly RunResult[];
};

/** A root run as the host itself may ask for it, beyond what a person can. */
export type RootRequest = RunRequest &
  Pick<SpawnRequest, "conducted" | "program" | "told" | "tainted" | "privateData"> & {
    /** The agent, where the host has fitted it to the task. */
    leader?: Agent;
    /** Text of the project is in the task. */
    projectText?: boolean;
    /** Called with the new session before the run begins; what it throws ends the session. */
    onSession?(sessionId: string): void;
  };

/** A root run under way. */
export type RootRun = {
  runId: string;
  /** Resolves once the run can be steered, held and stopped, or has ended. */
  begun: Promise<unknown>;
  result: Promise<RunResult>;
};

/** Begins a root run. `taskId` is its place among several tasks of one session. */
export async function beginRoot(
  session: Session,
  request: RootRequest,
  { taskId, runId = session.host.createId("run") }: { taskId?: string; runId?: string } = {},
): Promise<RootRun> {
  if (session.stop) throw new RetinueError("failed", "the session was stopped before this task began");
  const { host } = session;
  const agent = request.leader ?? requireAgent(host.registry, request.agent);
  const { tools, limits, model, conducted, tainted, privateData, program } = request;
  const task = host.redactor.redact(request.task);
  const deliverables = [...agent.deliverables, ...(request.deliverables ?? [])];
  const { reports = [] } = request;
  const told =
    request.told ??
    host.redactor.redact(
      describeReports(reports, { escapeText: host.guards.escapeText, workspaceDir: session.workspaceDir }),
    );
  const steered = await Promise.all(reports.map((report) => hadProjectText(host.record, report.session_id)));
  if (request.projectText || steered.includes(true)) session.projectText.enter();
  const profile = await createProfile(session, {
    agent,
    parent: null,
    tools,
    limits,
    model,
    task: session.triggers && !conducted && program === undefined ? task : undefined,
  });
  const live = Promise.withResolvers<void>();
  const result = host.runChild({
    ...AT_ROOT,
    onLive: live.resolve,
    session,
    profile: conducted ? ledByHost(session, profile, conducted) : profile,
    conducted,
    program,
    runId,
    task,
    message: withAnswerForm(told === "" ? task : `${task}\n\n${told}`, deliverables),
    ...(told !== "" && { told }),
    deliverables,
    limits,
    taskId,
    ...((tainted || reports.some((report) => report.tainted)) && { tainted: true }),
    ...((privateData || reports.some((report) => report.private_data)) && { privateData: true }),
    past: request.fork ? await pastOf(host.record, request.fork) : undefined,
  });
  return { runId, begun: Promise.race([live.promise, result]), result };
}

/** A root run that was open when its process ended, with what it needs to go on. */
export type OpenRoot = { node: MessageNode; profile: Profile; past: Past | undefined };

/** Goes on with a recorded root run, in its own rows. */
export function continueRoot(session: Session, { node, past, ...open }: OpenRoot): RootRun {
  const { deliverables, limits, taskId, ...metadata } = metadataOf(node);
  const conducted = metadata.conducted as Conducted | undefined;
  const profile = conducted ? ledByHost(session, open.profile, conducted) : open.profile;
  const message = node.request_content ?? "";
  const live = Promise.withResolvers<void>();
  const result = session.host.runChild({
    ...AT_ROOT,
    onLive: live.resolve,
    session,
    conducted,
    ...(conducted?.kind === "program" && { program: null }),
    profile: { ...profile, chain: [...profile.chain, ...session.base] },
    runId: node.run_id,
    task: (metadata.task as string | undefined) ?? message,
    message,
    deliverables: (deliverables as Deliverable[] | undefined) ?? [],
    limits: limits as Limits | undefined,
    taskId: taskId as string | undefined,
    past,
    resume: node,
  });
  return { runId: node.run_id, begun: Promise.race([live.promise, result]), result };
}

/** Results of runs that the person started beside the conversation. */
function describeReports(reports: readonly RunResult[], reader: Reader): string {
  if (reports.length === 0) return "";
  const texts = reports.map((report) => resultText(report, reader));
  return ["## Reports of agents that the person started meanwhile", ...texts].join("\n");
}

/** The task with the form that its answer must have, if somebody has set one. */
function withAnswerForm(task: string, deliverables: readonly Deliverable[]): string {
  const forms = deliverables.flatMap((one) => ("answer" in one ? [askForForm(one.answer)] : []));
  return [task, ...forms].join("\n\n");
}

function ledByHost(session: Session, profile: Profile, conducted: Conducted): Profile {
  const conduct = session.host.conduct(session, profile.agent, conducted);
  return { ...profile, model: createConductor(conduct, profile.model) };
}

const AT_ROOT = { parent: null, callId: null, parentRowId: null, attempt: 0 } as const;
