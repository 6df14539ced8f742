import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ProfileSnapshot } from "../delegate/profile.ts";
import type { ToolCall } from "../run/model/read-stream.ts";
import type {
  CallNow,
  ChildKey,
  Recorded,
  RecordedAnswer,
  RecordedOutside,
  RecordedReply,
  StartedChild,
} from "../run/replay/recorded.ts";
import type { Run } from "../run/run.ts";
import type { Limits } from "../schema/agent.ts";
import type { OpenDelegation } from "../schema/delegation.ts";
import type { BailoutReason, DeliverableVerdict, RunResult, UnmetDeliverable } from "../schema/result.ts";
import { metadataOf } from "../session/read-row.ts";
import { withoutEnvironment } from "../session/system-prompt.ts";
import { showCount } from "../show/measures.ts";
import type { Purpose, RecordedRun } from "./recorded-run.ts";
import type { RecordedSession } from "./recorded-session.ts";
import { answerTo, outsideOf } from "./replay-calls.ts";
import { ReplayChildren } from "./replay-children.ts";
import { historyIn, replyTo, stopBeforeTurn } from "./replay-turns.ts";
import { withRecordedFiles } from "./with-recorded-files.ts";

/** Plays a recorded session: every run keeps its id, and is held against the run it repeats. */
export class ReplaySource implements Recorded {
  readonly #session: RecordedSession;
  readonly #children: ReplayChildren;
  modelCalls = 0;
  toolCalls = 0;

  constructor(session: RecordedSession) {
    this.#session = session;
    this.#children = new ReplayChildren(session);
  }

  begin(run: Run): RunResult | null {
    const recorded = this.#session.of(run);
    if (!recorded) return null;
    this.#compareStart(run, recorded);
    if (recorded.diverged || recorded.turns.length === 0) return recorded.result;
    const history = historyIn(this.#session, recorded.turns.slice(0, 1));
    if (history !== undefined && metadataOf(recorded.node).forkedFrom !== undefined)
      beginWith(run, JSON.parse(history) as LanguageModelV4Message[]);
    run.steering.push(...recorded.steering());
    return null;
  }

  beforeTurn(run: Run): BailoutReason | null {
    return stopBeforeTurn(run, this.#session.of(run));
  }

  reply(run: Run, purpose: Purpose): RecordedReply {
    const reply = replyTo(this.#session, run, purpose);
    if (reply.kind === "streamed") this.modelCalls++;
    this.#children.turnBegan(run);
    return reply;
  }

  outside(run: Run, call: ToolCall): RecordedOutside | "unknown" | undefined {
    const row = this.#session.of(run)?.callRow(call.callId);
    return row && outsideOf(row);
  }

  answer(run: Run, call: ToolCall, now: CallNow): RecordedAnswer {
    const isIncomplete = this.#children.isIncomplete(run, call.callId);
    const answer = answerTo(this.#session, run, { call, now, isIncomplete });
    if (answer && now.kind === "admitted") this.toolCalls++;
    return answer ?? { text: "the record ends here", outcome: "error", tainted: false, ...now };
  }

  broughtUntrusted(run: Run, call: ToolCall): boolean {
    const row = this.#session.of(run)?.callRow(call.callId);
    return row !== undefined && metadataOf(row).broughtUntrusted === true;
  }

  end(run: Run, now: RunResult): RunResult {
    const recorded = this.#session.of(run);
    const then = recorded?.result;
    if (!recorded || !then) return now;
    if (recorded.diverged) return then;
    recorded.position = recorded.node.closed_seq ?? recorded.position;
    if (endingOf(then) !== endingOf(now))
      this.#session.differs(run, "how it ended", endingOf(then), endingOf(now));
    else if (!this.#session.same(then.details, now.details))
      this.#session.differs(run, "its answer", then.details, now.details);
    return then;
  }

  unmet(run: Run): readonly UnmetDeliverable[] {
    return this.#session.of(run)?.result?.unmet ?? [];
  }

  /** What the host found when it checked: what the run was told to repair, or what its result says. */
  verdicts(run: Run): DeliverableVerdict[] {
    const recorded = this.#session.of(run);
    if (!recorded?.next()) return [...(recorded?.result?.deliverables ?? [])];
    const missing = recorded
      .told()
      .map(missingIn)
      .find((list) => list.length > 0);
    return missing ?? [{ deliverable: "", ok: false, reason: "as recorded", files: [] }];
  }

  childId(parent: Run, child: ChildKey): string | undefined {
    return this.#children.childId(parent, child);
  }

  startedIn(parent: Run, callId: string): StartedChild[] {
    const rows = this.#session.of(parent)?.callRow(callId)?.children ?? [];
    return rows
      .filter((row) => row.request_type === "delegation" && !metadataOf(row).attempt)
      .map((row) => {
        const { limits } = metadataOf(row) as { limits?: Limits };
        return {
          callId: row.call_id ?? "",
          agent: row.agent_role ?? "",
          task: row.request_content ?? "",
          ...(limits && { limits }),
        };
      });
  }

  begins(parent: Run, child: ChildKey, agent: string): boolean {
    return this.#children.begins(parent, child, agent);
  }

  message(parent: Run, child: ChildKey, text: string): string {
    const then = this.#session.childOf(parent, child)?.node.request_content;
    return then ? withRecordedFiles(text, then) : text;
  }

  isTold(parent: Run, delegation: OpenDelegation): boolean {
    return this.#children.isTold(parent, delegation);
  }

  untilTold(parent: Run, delegation: OpenDelegation): Promise<void> {
    return this.#children.untilTold(parent, delegation);
  }

  tellAll(parent: Run): void {
    this.#children.tellAll(parent);
  }

  #compareStart(run: Run, { node }: RecordedRun): void {
    const system = this.#session.text(node.system_prompt_id) ?? "";
    const task = node.request_content ?? "";
    const kept = this.#session.text(metadataOf(node).snapshot);
    const model = kept === undefined ? run.spec.model.id : (JSON.parse(kept) as ProfileSnapshot).model;
    const [then, now] = [withoutEnvironment(system), withoutEnvironment(run.spec.system)];
    if (node.agent_role !== run.spec.agent.name)
      this.#session.differs(run, "the agent", node.agent_role ?? "", run.spec.agent.name);
    else if (then !== now) this.#session.differs(run, "the system prompt", then, now);
    else if (!this.#session.same(task, run.spec.task))
      this.#session.differs(run, "the task", task, run.spec.task);
    else if (model !== run.spec.model.id) this.#session.differs(run, "the model", model, run.spec.model.id);
  }
}

/** Gives a run the conversation that it was begun with, in which its own task comes last but for the host's words. */
function beginWith(run: Run, history: readonly LanguageModelV4Message[]): void {
  const task = JSON.stringify(run.history[1]);
  run.replaceHistory(history);
  run.begunAt = Math.max(1, history.map((message) => JSON.stringify(message)).lastIndexOf(task));
}

/** What a run was told to mend: a list that a last paragraph follows; a reason may have several lines. */
function missingIn(text: string): DeliverableVerdict[] {
  const start = text.search(/^- `/m);
  if (start < 0) return [];
  return text
    .slice(start, text.lastIndexOf("\n\n"))
    .split(/\n(?=- `)/)
    .map((item) => /^- `([\s\S]*?)`: ([\s\S]*)$/.exec(item))
    .map((match) => ({ deliverable: match?.[1] ?? "", ok: false, reason: match?.[2] ?? "", files: [] }));
}

function endingOf({ status, bailout_reason, iteration_count }: RunResult): string {
  const why = bailout_reason ? ` (${bailout_reason})` : "";
  return `${status}${why} after ${showCount(iteration_count, "turn")}`;
}
