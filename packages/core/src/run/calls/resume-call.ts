import type { AnyTool, Tool, ToolOutput } from "../../tools/tool.ts";
import { validateInput } from "../../tools/validate-input.ts";
import type { CallResult, ToolCall } from "../model/reply.ts";
import type { Run } from "../run.ts";
import { askTool } from "../wait-for.ts";
import { taint } from "./dispatch.ts";
import { openCall } from "./record-call.ts";

/**
 * A call that a crash left without an answer. One that never began, or may run again, is made; one that the outside can
 * be asked about is looked up; of any other only this is known: that it may have happened.
 */
export async function resumeCall(run: Run, call: ToolCall): Promise<CallResult> {
  const tool = run.tools.get(call.tool) as Tool<unknown> | undefined;
  const begun = call.resumed?.rowId != null;
  if (call.redacted) {
    const text =
      "the input of this call held a secret that was not kept; make the call again if it is still needed";
    openCall(run, call, { tool: tool ?? { name: call.tool, replay: "safe" } }).close({
      outcome: "error",
      text,
    });
    return { callId: call.callId, tool: call.tool, text, outcome: "error" };
  }
  if (!tool || !begun || tool.replay === "safe") return run.host.makeCall(run, call);
  const found = tool.replay === "lookup" ? await lookUp(run, tool, call) : undefined;
  if (found === null) return run.host.makeCall(run, call);
  if (tool.delegates === "program") await run.children?.finish(call.callId);
  const text =
    found?.text ??
    `it is not known whether '${call.tool}' took effect: the process ended while it ran; find out before you repeat it`;
  const outcome = found === undefined ? "error" : "ok";
  const tainted = found !== undefined && (tool.untrusted || found.tainted === true);
  run.toolsUsed.add(tool.name);
  if (tainted) await taint(run, tool.name);
  run.privateData = true;
  if (found === undefined) {
    const message = `${run.agent.name} was stopped inside '${call.tool}'; it is not known whether it took effect, and it is not repeated`;
    run.session.emit({
      type: "notice.raised",
      level: "warning",
      message,
      runId: run.runId,
    });
  }
  openCall(run, call, { tool }).close({ outcome, text, effects: tainted ? { tainted } : {} });
  return { callId: call.callId, tool: call.tool, text, outcome };
}

/** The output if it happened, null if it did not, undefined if that cannot be found out. */
async function lookUp(run: Run, tool: Tool<unknown>, call: ToolCall): Promise<ToolOutput | null | undefined> {
  const parsed = await validateInput(tool as AnyTool, call.input);
  if (!tool.lookup || !parsed.ok) return undefined;
  try {
    const { projectDir, workspaceDir, runId } = run;
    const place = {
      projectDir,
      workspaceDir,
      sessionId: run.session.id,
      runId,
      callId: call.callId,
      signal: run.signal,
    };
    const found = await askTool(run, tool.lookup(parsed.value, place));
    if (found === null) return null;
    const output = typeof found === "string" ? { text: found } : found;
    return { ...output, text: run.host.redactor.redact(output.text) };
  } catch {
    return undefined;
  }
}
