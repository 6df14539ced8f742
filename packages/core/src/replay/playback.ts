import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { Children, PARENT_AT_LIMIT } from "../delegate/children.ts";
import type { ProfileSnapshot } from "../delegate/profile.ts";
import { closeRun, openRun } from "../delegate/record-run.ts";
import { spawnRun } from "../delegate/spawn-run.ts";
import { withoutEnvironment } from "../delegate/system-prompt.ts";
import { artefactPath, readHandedFile, workspaceFor } from "../host/workplace.ts";
import { type Admitted, absorb, admitCall, executeCall, taint } from "../run/calls/dispatch.ts";
import { openCall, recordRefusal } from "../run/calls/record-call.ts";
import { createId } from "../run/create-id.ts";
import { closeTurn, openTurn } from "../run/model/record-turn.ts";
import type { CallResult, ToolCall } from "../run/model/reply.ts";
import type { ModelCall, ModelOutcome } from "../run/outcome.ts";
import { metadataOf } from "../run/read-row.ts";
import type { Host, Run, SpawnRequest, UntrustedFiles, Workplace } from "../run/run.ts";
import type { Limits } from "../schema/agent.ts";
import { messageOf } from "../schema/error.ts";
import type { DeliverableVerdict, RunResult } from "../schema/result.ts";
import { showCount } from "../show/measures.ts";
import type { AnyTool, Tool } from "../tools/tool.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RecordedSession } from "./recorded-session.ts";
import { answerTo, type CallNow, outsideOf, type RecordedAnswer } from "./replay-calls.ts";
import { ReplayChildren } from "./replay-children.ts";
import { historyIn, replyTo, stopBeforeTurn } from "./replay-turns.ts";
import { withRecordedFiles } from "./with-recorded-files.ts";

const UNUSED = {
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  doubt: null,
  costUsd: 0,
};
const NOTHING_RESERVED = { contextTokens: 0, reserved: 0, reservedUsd: 0 };

/**
 * What takes the place of the outside while a recorded session is played again: models, tools, ids, time, files and the order in
 * which things reached each run. What the host does itself it does again, and that is compared with the record.
 */
export class Playback {
  modelCalls = 0;
  toolCalls = 0;
  readonly #session: RecordedSession;
  readonly #children: ReplayChildren;

  constructor(session: RecordedSession) {
    this.#session = session;
    this.#children = new ReplayChildren(session);
  }

  /** A host on which runs are played instead of run. */
  takeOver(made: Host): Host {
    const children = this.#children;
    return {
      ...made,
      guards: { ...made.guards, checkDeliverables: async (run) => this.#verdicts(run) },
      readGitState: async () => null,
      createRunId: (parent, child) => children.childId(parent, child) ?? createId("run"),
      runChild: (request) => this.#runChild(request),
      callModel: async (run, call) => this.#callModel(run, call),
      makeCall: (run, call) => this.#makeCall(run, call),
      pace: {
        beforeTurn: (run) => this.#beforeTurn(run),
        watch: () => () => {},
        refuseChild: (parent, child, stopped) =>
          children.begins(parent, child, child.agent) ? null : (stopped ?? PARENT_AT_LIMIT),
        hear: async (parent, about, ended) => {
          const result = await ended;
          await children.untilTold(parent, about);
          return result;
        },
        untilEnded: (parent, some) =>
          Promise.all(some.filter((one) => children.isTold(parent, one)).map((one) => one.done)),
        hearAll: (parent) => children.tellAll(parent),
        stopChildren: (parent) => children.tellAll(parent),
      },
      workplace: this.#createWorkplace(made.workplace, made),
      untrusted: NOTHING_UNTRUSTED,
    };
  }

  async #runChild(request: SpawnRequest): Promise<RunResult> {
    const recorded = this.#session.runs.get(request.runId);
    if (!recorded) return spawnRun(request);
    const message = withRecordedFiles(request.message, recorded.node.request_content ?? "");
    const played = { ...request, message: request.parent ? message : request.message };
    this.#compareStart(played, recorded);
    const { result } = recorded;
    if (result && (recorded.diverged || recorded.turns.length === 0))
      return closeRun(played, openRun(played), result);
    return this.#end(played, recorded, await spawnRun(played));
  }

  /** The result as it was then, with what was measured then. */
  #end(request: SpawnRequest, recorded: RecordedRun, now: RunResult): RunResult {
    const then = recorded.result;
    if (!then) return now;
    if (recorded.diverged) return then;
    recorded.position = recorded.node.closed_seq ?? recorded.position;
    const place = { ...placeOf(request), turn: now.iteration_count };
    if (describeEnd(then) !== describeEnd(now))
      this.#session.differs(place, "how it ended", describeEnd(then), describeEnd(now));
    else if (!this.#session.same(then.details, now.details))
      this.#session.differs(place, "its answer", then.details, now.details);
    return then;
  }

  #compareStart(request: SpawnRequest, { node }: RecordedRun): void {
    const { agent, system, model } = request.profile;
    const task = node.request_content ?? "";
    const kept = this.#session.text(metadataOf(node).snapshot);
    const wanted = kept === undefined ? model.id : (JSON.parse(kept) as ProfileSnapshot).model;
    const then = withoutEnvironment(this.#session.text(node.system_prompt_id) ?? "");
    const now = withoutEnvironment(system);
    const differs = (what: string, recorded: string, today: string) =>
      this.#session.differs(placeOf(request), what, recorded, today);
    if (node.agent_role !== agent.name) differs("the agent", node.agent_role ?? "", agent.name);
    else if (then !== now) differs("the system prompt", then, now);
    else if (!this.#session.same(task, request.message)) differs("the task", task, request.message);
    else if (wanted !== model.id) differs("the model", wanted, model.id);
  }

  /** Ends the run where it was ended from outside, and lets it hear what it was told before its first turn. */
  #beforeTurn(run: Run): ReturnType<Host["pace"]["beforeTurn"]> {
    const recorded = this.#session.of(run);
    if (run.turn === 0 && recorded && recorded.turns.length > 0 && !recorded.diverged) {
      const history = historyIn(this.#session, recorded.turns.slice(0, 1));
      if (history !== undefined && metadataOf(recorded.node).forkedFrom !== undefined)
        run.replaceHistory(JSON.parse(history) as LanguageModelV4Message[]);
      run.steering.push(...recorded.steering());
    }
    return stopBeforeTurn(run, recorded);
  }

  /** A model call with all its attempts: nothing is reserved, waited for or spent. */
  #callModel(run: Run, call: ModelCall): ModelOutcome {
    while (true) {
      const next = replyTo(this.#session, run, call.purpose);
      if (next.kind === "streamed") this.modelCalls++;
      this.#children.turnBegan(run);
      if (next.kind !== "streamed") return next;
      const { streamed } = next;
      run.model = { ...run.model, id: next.modelId };
      const turn = openTurn(run, { purpose: call.purpose, ...NOTHING_RESERVED });
      if (streamed.kind === "reply")
        streamed.reply.calls = run.host.guards.distinctCalls(run, streamed.reply.calls);
      closeTurn(run, turn, streamed, UNUSED);
      if (streamed.kind === "reply") return { kind: "reply", reply: streamed.reply, tokens: 0 };
      if (next.again) continue;
      const { error, bailout } = streamed;
      return { kind: "failed", error, ...(bailout && { bailout }) };
    }
  }

  /** A call of a tool: judged by the present rules, answered as recorded; delegations are made again. */
  async #makeCall(run: Run, call: ToolCall): Promise<CallResult> {
    const admitted = await this.#admit(run, call);
    if ("outcome" in admitted) {
      const now = { ...admitted, text: run.host.redactor.redact(admitted.text) };
      const { text, outcome } = this.#answer(run, call, { kind: "refused", ...now });
      recordRefusal(run, call, { ...now, text, outcome });
      return { callId: call.callId, tool: call.tool, text, outcome };
    }
    if (admitted.tool.delegates === false || admitted.tool.delegates === "program")
      return this.#repeat(run, call, admitted);
    const now = await executeCall(run, call, admitted);
    if (now.outcome !== "ok" && now.outcome !== "error") return now;
    const { text, outcome } = this.#answer(run, call, {
      kind: "answered",
      text: now.text,
      outcome: now.outcome,
    });
    return { ...now, text, outcome };
  }

  async #admit(run: Run, call: ToolCall): ReturnType<typeof admitCall> {
    const row = this.#session.of(run)?.callRow(call.callId);
    const tool = run.tools.get(call.tool);
    if (row && tool && metadataOf(row).broughtUntrusted === true) await taint(run, tool.name);
    const outside = row && outsideOf(row);
    if (!tool || outside === undefined) return admitCall(run, call, tool);
    if (outside !== "unknown") {
      const answered: Partial<AnyTool> = {
        access: () => outside.reached,
        confirm: () => outside.asked,
        risk: "high",
      };
      const { present: _, ...rest } = tool;
      return admitCall(run, call, { ...rest, ...answered });
    }
    // Then it was not found out whom the call reaches, and nothing more of it was judged.
    let input: unknown;
    let isAsked = false;
    const unknown: AnyTool = {
      ...tool,
      access(given: unknown) {
        input = given;
        isAsked = true;
        return [];
      },
    };
    const judged = await admitCall(run, call, unknown);
    return isAsked ? { tool: tool as Tool<unknown>, input, targets: [], carrying: [] } : judged;
  }

  /** Answers a call as it was answered then; of what it did only its child runs are played again. */
  async #repeat(run: Run, call: ToolCall, admitted: Admitted): Promise<CallResult> {
    const { tool, approvedBy } = admitted;
    const answer = this.#answer(run, call, { kind: "admitted" });
    const { text, outcome, tainted, public: isPublic = false, shown = [] } = answer;
    const row = openCall(run, call, { tool, approvedBy });
    if (tool.delegates === "program") await this.#playChildren(run, call.callId, row.messageId);
    if (outcome !== "cached") run.toolsUsed.add(tool.name);
    const effects = absorb(run, admitted, { tainted, isPublic, isError: outcome === "error", shown });
    row.close({ outcome, text, effects });
    return { callId: call.callId, tool: tool.name, text, outcome };
  }

  #answer(run: Run, call: ToolCall, now: CallNow): RecordedAnswer {
    const isIncomplete = this.#children.isIncomplete(run, call.callId);
    const answer = answerTo(this.#session, run, { call, now, isIncomplete });
    if (answer && now.kind === "admitted") this.toolCalls++;
    return answer ?? { text: "the record ends here", outcome: "error", tainted: false, ...now };
  }

  /** Plays the children again that the code of a tool had started in a call. */
  async #playChildren(run: Run, callId: string, rowId: number): Promise<void> {
    const { children } = run;
    if (!(children instanceof Children)) return;
    const rows = this.#session.of(run)?.callRow(callId)?.children ?? [];
    const started = rows.filter((row) => row.request_type === "delegation" && !metadataOf(row).attempt);
    const { signal } = new AbortController();
    await Promise.all(
      started.map((row) => {
        const { limits } = metadataOf(row) as { limits?: Limits };
        const own = row.call_id ?? "";
        const task = row.request_content ?? "";
        const request = { agent: row.agent_role ?? "", task, ...(limits && { limits }) };
        return children.startFor(request, {
          id: children.idFor({ callId: own }),
          callId: own,
          rowId,
          signal,
        });
      }),
    );
  }

  /** What the host found when it checked: what the run was told to repair, or what its result says. */
  #verdicts(run: Run): DeliverableVerdict[] {
    const recorded = this.#session.of(run);
    if (!recorded?.next()) return [...(recorded?.result?.deliverables ?? [])];
    const missing = recorded
      .told()
      .map(missingIn)
      .find((list) => list.length > 0);
    return missing ?? [{ deliverable: "", ok: false, reason: "as recorded", files: [] }];
  }

  #createWorkplace(made: Workplace, { record }: Host): Workplace {
    return {
      ...made,
      async enter(request) {
        const shared = request.parent?.projectDir ?? request.session.projectDir;
        const isApart = request.profile.agent.workspace !== "shared";
        const own = isApart ? (await record.findWorktree({ runId: request.runId }))?.path : undefined;
        return { projectDir: own ?? shared, workspaceDir: workspaceFor(request) };
      },
      leave: async (_, result) => result,
      saveArtefact: async ({ workspaceDir, runId }, name) => artefactPath(workspaceDir, runId, name),
      findFolder: async (_, cwd) => cwd,
      // The recorded message holds what was read then.
      readHanded: (run, chains, name) =>
        readHandedFile(run, chains, name).catch((thrown) => ({
          name,
          path: name,
          text: `[not readable: ${messageOf(thrown)}]`,
        })),
      takeBaseline: async () => new Map(),
      missingBefore: async () => null,
      findUnmet: async (run) => this.#session.of(run)?.result?.unmet ?? [],
    };
  }
}

/** The present files say nothing about the recorded ones: the rows tell which calls let in what a tainted run had written. */
const NOTHING_UNTRUSTED: UntrustedFiles = {
  hold: async () => false,
  show: async () => false,
  reach: async () => false,
  begin: async () => async () => {},
  note: async () => {},
  closeLeft: async () => {},
  taintWorkspace: async () => {},
};

function placeOf({
  runId,
  parent,
  profile,
}: SpawnRequest): Pick<Run, "runId" | "turn" | "ancestors" | "agent"> {
  const ancestors = parent ? [...parent.ancestors, parent.agent.name] : [];
  return { runId, turn: 0, ancestors, agent: profile.agent };
}

/** What a run was told to repair: a list that a last paragraph follows; a reason may have several lines. */
function missingIn(text: string): DeliverableVerdict[] {
  const start = text.search(/^- `/m);
  if (start < 0) return [];
  return text
    .slice(start, text.lastIndexOf("\n\n"))
    .split(/\n(?=- `)/)
    .map((item) => /^- `([\s\S]*?)`: ([\s\S]*)$/.exec(item))
    .map((match) => ({ deliverable: match?.[1] ?? "", ok: false, reason: match?.[2] ?? "", files: [] }));
}

function describeEnd({ status, bailout_reason, iteration_count }: RunResult): string {
  const why = bailout_reason ? ` (${bailout_reason})` : "";
  return `${status}${why} after ${showCount(iteration_count, "turn")}`;
}
