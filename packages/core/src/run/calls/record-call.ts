import type { ChangeKind, SuiteTests } from "../../schema/result.ts";
import type { Tool, ToolOutput } from "../../tools/tool.ts";
import { cutAt } from "../../tools/truncate.ts";
import type { ToolCall } from "../model/read-stream.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import type { CallResult } from "./dispatch.ts";

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

/** Opens the row of a tool call: the intent, before the effect. */
export function openCall(
  run: Run,
  call: ToolCall,
  about: { tool: Pick<Tool<unknown>, "name" | "replay">; approvedBy?: string | undefined },
  ports: LoopPorts,
): OpenCall {
  const { spec } = run;
  const startedMs = ports.clock.monotonicMs();
  const { callId, input } = call;
  const tool = about.tool.name;
  const adopted = call.resumed?.rowId ?? null;
  const messageId =
    adopted ??
    ports.journal.open(
      {
        sessionId: spec.sessionId,
        parentId: run.turnMessageId,
        runId: spec.runId,
        type: "tool_call",
        callId,
        agentRole: spec.agent.name,
        depth: spec.depth,
        startedAtMs: ports.clock.wallMs(),
        requestContent: input,
        replay: about.tool.replay,
        metadata: {
          tool,
          ...(about.approvedBy && { approvedBy: about.approvedBy }),
          ...(call.rawInput && { redacted: true }),
          ...(call.broughtUntrusted && { broughtUntrusted: true }),
          ...(call.requested && { requested: ports.redactor.redactJson(call.requested) }),
          ...(call.reached !== undefined && { reached: ports.redactor.redactJson(call.reached) }),
        },
      },
      (seq) =>
        ports.emit(
          run.spec.sessionId,
          { type: "call.started", runId: spec.runId, callId, messageId, tool, input },
          seq,
        ),
    );
  return {
    messageId,
    close({ outcome, text, effects }) {
      const durationMs = Math.round(ports.clock.monotonicMs() - startedMs);
      const good = outcome === "ok" || outcome === "cached";
      ports.journal.close(
        messageId,
        spec.sessionId,
        {
          status: good ? "completed" : (run.interruption?.status ?? "failed"),
          completedAtMs: ports.clock.wallMs(),
          durationMs,
          responseContent: text,
          metadata: { outcome, ...ports.redactor.redactJson(effects) },
          ...(!good && { errorMessage: cutAt(text, 500) }),
        },
        (seq) =>
          ports.emit(
            run.spec.sessionId,
            {
              type: "call.ended",
              runId: spec.runId,
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
export function recordRefusal(run: Run, call: ToolCall, ending: Ending, ports: LoopPorts): void {
  openCall(run, call, { tool: { name: call.tool, replay: "safe" } }, ports).close(ending);
}
