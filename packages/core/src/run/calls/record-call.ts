import type { ChangeKind, SuiteTests } from "../../schema/result.ts";
import type { Tool, ToolOutput } from "../../tools/tool.ts";
import { cutAt } from "../../tools/truncate.ts";
import type { CallResult, ToolCall } from "../model/reply.ts";
import type { Run } from "../run.ts";

/** What a call did besides its answer, so that a run can be rebuilt from its rows. */
export type Effects = {
  files?: readonly (readonly [path: string, kind: ChangeKind])[];
  tests?: readonly Omit<SuiteTests, "runs">[];
  tainted?: true;
  /** Its answer tells only what is public. */
  public?: true;
  /** Addresses that the outside showed in its answer. */
  shown?: readonly string[];
  /** It did not count against the limits. */
  uncounted?: true;
  /** It was one call too many. */
  over?: true;
  /** Child runs that its answer was about. */
  children?: ToolOutput["children"];
};

type Ending = Pick<CallResult, "outcome" | "text"> & { effects?: Effects };

/** An open row of a tool call. */
export type OpenCall = { messageId: number; close(ending: Ending): void };

/** Opens the row of a tool call, before the effect. */
export function openCall(
  run: Run,
  call: ToolCall,
  about: { tool: Pick<Tool<unknown>, "name" | "replay">; approvedBy?: string | undefined },
): OpenCall {
  const startedMs = run.host.clock.monotonicMs();
  const { callId, input } = call;
  const tool = about.tool.name;
  const adopted = call.resumed?.rowId ?? null;
  const messageId =
    adopted ??
    run.session.journal.open(
      {
        sessionId: run.session.id,
        parentId: run.turnMessageId,
        runId: run.runId,
        type: "tool_call",
        callId,
        agentRole: run.agent.name,
        depth: run.depth,
        startedAtMs: run.host.clock.wallMs(),
        requestContent: input,
        replay: about.tool.replay,
        metadata: {
          tool,
          ...(about.approvedBy && { approvedBy: about.approvedBy }),
          ...(call.rawInput && { redacted: true }),
          ...(call.broughtUntrusted && { broughtUntrusted: true }),
          ...(call.requested && { requested: run.host.redactor.redactJson(call.requested) }),
          ...(call.reached !== undefined && { reached: run.host.redactor.redactJson(call.reached) }),
        },
      },
      (seq) =>
        run.session.emit({ type: "call.started", runId: run.runId, callId, messageId, tool, input }, seq),
    );
  return {
    messageId,
    close({ outcome, text, effects }) {
      const durationMs = Math.round(run.host.clock.monotonicMs() - startedMs);
      const good = outcome === "ok" || outcome === "cached";
      run.session.journal.close(
        messageId,
        run.session.id,
        {
          status: good ? "completed" : (run.interruption?.status ?? "failed"),
          completedAtMs: run.host.clock.wallMs(),
          durationMs,
          responseContent: text,
          metadata: { outcome, ...run.host.redactor.redactJson(effects) },
          ...(!good && { errorMessage: cutAt(text, 500) }),
        },
        (seq) =>
          run.session.emit(
            {
              type: "call.ended",
              runId: run.runId,
              callId,
              messageId,
              tool,
              outcome,
              summary: cutAt(text, 200),
              durationMs,
            },
            seq,
          ),
      );
    },
  };
}

/** Records a call that was refused or failed before it began. */
export function recordRefusal(run: Run, call: ToolCall, ending: Ending): void {
  openCall(run, call, { tool: { name: call.tool, replay: "safe" } }).close(ending);
}
