import { messageOf } from "../schema/error.ts";
import type { Tool, ToolContext, ToolOutput } from "../tools/tool.ts";
import type { LoopPorts } from "./ports.ts";
import type { ToolCall } from "./read-stream.ts";
import type { Effects } from "./record-call.ts";
import type { Run } from "./run.ts";

/** A call that passed every check, and the row that tells of it. */
export type Performed = { tool: Tool<unknown>; input: unknown; rowId: number };

/** Executes a tool. The intent of a call that must not run twice is on disk before it begins. Never throws. */
export async function performCall(
  run: Run,
  call: ToolCall,
  { tool, input, rowId }: Performed,
  ports: LoopPorts,
): Promise<{ output: ToolOutput; effects: Effects }> {
  const effects: { -readonly [Key in keyof Effects]: Effects[Key] } = {};
  const context = contextOf(run, call, rowId, effects, ports);
  try {
    if (tool.replay !== "safe") await ports.journal.committed();
    const output = await untilAborted(tool.execute(input, context), run.signal);
    return { output: typeof output === "string" ? { text: output } : output, effects };
  } catch (thrown) {
    return { output: { text: `'${call.tool}' failed: ${messageOf(thrown)}`, isError: true }, effects };
  }
}

function contextOf(
  run: Run,
  call: ToolCall,
  rowId: number,
  effects: { -readonly [Key in keyof Effects]: Effects[Key] },
  ports: LoopPorts,
): ToolContext {
  const { spec } = run;
  const { sessionId, runId, projectDir, workspaceDir } = spec;
  return {
    sessionId,
    runId,
    callId: call.callId,
    rowId,
    projectDir,
    workspaceDir,
    signal: run.signal,
    progress(text) {
      const message = ports.redactor.redact(text);
      ports.emit(sessionId, {
        type: "call.progressed",
        runId,
        callId: call.callId,
        tool: call.tool,
        message,
      });
    },
    changed(path, kind) {
      effects.files = [...(effects.files ?? []), [path, kind]];
      run.noteChange(path, kind);
    },
    tested(count, passed) {
      effects.tests = {
        run: (effects.tests?.run ?? 0) + count,
        passed: (effects.tests?.passed ?? 0) + passed,
      };
      run.testsRun += count;
      run.testsPassed += passed;
    },
  };
}

/** A tool that ignores the signal does not hold the run; its late result is dropped. */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("the run was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    if (signal.aborted) stop();
  });
}
