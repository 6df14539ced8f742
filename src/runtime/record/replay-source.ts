import type { ToolCall } from "../../loop/model/read-stream.ts";
import type { Streamed } from "../../loop/model/stream-reply.ts";
import type { Recorded } from "../../loop/ports.ts";
import type { Run } from "../../loop/run.ts";
import type { MessageNode } from "../../schema/record.ts";
import type { DeliverableVerdict, ErrorType } from "../../schema/result.ts";
import type { ToolOutput } from "../../tools/tool.ts";
import { isClosed, metadataOf, replyOfRow, resultOfRow } from "./read-row.ts";

/** The first place where a replay is not what was recorded. */
export type Divergence = { run: string; turn: number; what: string; recorded: string; now: string };

/** Plays a recorded session: each run of the replay is matched with the run it repeats. */
export class ReplaySource implements Recorded {
  readonly #roots: readonly MessageNode[];
  readonly #text: (id: string) => string | undefined;
  readonly #nodes = new Map<string, MessageNode>();
  divergence: Divergence | null = null;
  modelCalls = 0;
  toolCalls = 0;

  constructor(roots: readonly MessageNode[], text: (id: string) => string | undefined) {
    this.#roots = roots;
    this.#text = text;
  }

  reply(run: Run, purpose: "turn" | "wrap_up" | "summary"): Streamed {
    const node = this.#nodeOf(run);
    if (!node || this.divergence) return stopped();
    if (run.turn <= 1 && !this.#sameStart(run, node)) return stopped();
    if (!this.#sameResults(run, node)) return stopped();
    const row = node.children.findLast((each) => isReplyFor(each, run.turn, purpose));
    if (!row) {
      this.#diverge(
        run,
        purpose === "turn" ? "one turn more" : `a ${purpose} more`,
        "no such model call",
        "one is made",
      );
      return stopped();
    }
    this.modelCalls++;
    const metadata = metadataOf(row);
    if (row.status !== "completed") {
      const type = (metadata.errorType as ErrorType | undefined) ?? "bad_response";
      return {
        kind: "failed",
        began: false,
        chars: 0,
        error: { type, message: row.error_message ?? type, recoverable: false },
      };
    }
    return { kind: "reply", reply: replyOfRow(row), chars: row.response_content?.length ?? 0 };
  }

  result(run: Run, call: ToolCall): ToolOutput {
    const row = this.#rowOf(run, call.callId);
    if (!row || !isClosed(row)) {
      if (!this.divergence)
        this.#diverge(run, `the call of ${call.tool}`, "it was not made or not answered", call.input);
      return { text: "the replay has diverged", isError: true };
    }
    this.toolCalls++;
    const { outcome, tainted } = metadataOf(row);
    if (outcome === "denied") this.#diverge(run, `the call of ${call.tool}`, "denied", "allowed");
    return {
      text: row.response_content ?? "",
      isError: outcome !== "ok" && outcome !== "cached",
      ...(tainted === true && { tainted }),
    };
  }

  /** What the host found when it checked; while the recorded run went on, something was missing. */
  verdicts(run: Run): DeliverableVerdict[] {
    const node = this.#nodeOf(run);
    const wentOn = node?.children.some((row) => Number(metadataOf(row).turn) > run.turn);
    if (wentOn) return [{ deliverable: "", ok: false, reason: "as recorded", files: [] }];
    return node && isClosed(node) ? [...resultOfRow(node).deliverables] : [];
  }

  #nodeOf(run: Run): MessageNode | undefined {
    const known = this.#nodes.get(run.spec.runId);
    if (known) return known;
    const { parent } = run;
    const found = parent
      ? this.#childOf(run, this.#nodeOf(parent))
      : this.#roots.find((root) => root.agent_role === run.spec.agent.name);
    if (found) this.#nodes.set(run.spec.runId, found);
    else if (!this.divergence)
      this.#diverge(run, "a run", "no such run", `${run.spec.agent.name} was started`);
    return found;
  }

  #childOf({ spec }: Run, parent: MessageNode | undefined): MessageNode | undefined {
    const below =
      parent?.children.flatMap((turn) => turn.children.flatMap((row) => [row, ...row.children])) ?? [];
    const attempts = below.filter((row) => {
      const taskId = metadataOf(row).taskId ?? null;
      return row.request_type === "delegation" && row.call_id === spec.callId && taskId === spec.taskId;
    });
    return attempts[spec.attempt];
  }

  #sameStart(run: Run, node: MessageNode): boolean {
    const system = this.#text(node.system_prompt_id ?? "") ?? "";
    if (system !== run.spec.system) return this.#diverge(run, "the system prompt", system, run.spec.system);
    if (node.request_content !== run.spec.task)
      return this.#diverge(run, "the task", node.request_content ?? "", run.spec.task);
    return true;
  }

  /** The answers to the last turn's calls, as far as the host alone gave them: refusals and denials. */
  #sameResults(run: Run, node: MessageNode): boolean {
    const last = run.history.findLast((message) => message.role === "tool");
    if (last?.role !== "tool") return true;
    for (const part of last.content) {
      if (part.type !== "tool-result") continue;
      const row = this.#rowOf(run, part.toolCallId);
      const now = part.output.type === "error-text" ? "refused or failed" : "answered";
      const { outcome } = row ? metadataOf(row) : {};
      const then = outcome === "ok" || outcome === "cached" ? "answered" : "refused or failed";
      if (row && now !== then) return this.#diverge(run, `the call of ${part.toolName}`, then, now);
    }
    return node !== undefined;
  }

  #rowOf(run: Run, callId: string): MessageNode | undefined {
    const rows = this.#nodeOf(run)?.children.flatMap((turn) => turn.children) ?? [];
    return rows.find((row) => row.request_type === "tool_call" && row.call_id === callId);
  }

  #diverge(run: Run, what: string, recorded: string, now: string): false {
    const path = [...run.spec.ancestors, run.spec.agent.name].join(" > ");
    this.divergence ??= { run: path, turn: run.turn, what, recorded, now };
    return false;
  }
}

function isReplyFor(row: MessageNode, turn: number, purpose: string): boolean {
  if (row.request_type !== "continuation" || !isClosed(row)) return false;
  const metadata = metadataOf(row);
  return Number(metadata.turn) === turn && (metadata.purpose ?? "turn") === purpose;
}

function stopped(): Streamed {
  const error = { type: "failed" as const, message: "the replay has diverged", recoverable: false };
  return { kind: "failed", began: false, chars: 0, error };
}
