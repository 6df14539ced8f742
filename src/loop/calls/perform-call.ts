import { untilAborted } from "../../scheduler/until-aborted.ts";
import { messageOf } from "../../schema/error.ts";
import type { Target } from "../../schema/rights.ts";
import type { Tool, ToolContext, ToolOutput } from "../../tools/tool.ts";
import type { ToolCall } from "../model/read-stream.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import type { Effects } from "./record-call.ts";

/** A call that passed every check, and the row that tells of it. */
export type Performed = { tool: Tool<unknown>; input: unknown; targets: readonly Target[]; rowId: number };

/** How long a command that checks a deliverable may take; it runs even if the run itself was stopped. */
const HOST_CHECK_MS = 120_000;

/** Executes a tool. The intent of a call that must not run twice is on disk before it begins. Never throws. */
export async function performCall(
  run: Run,
  call: ToolCall,
  performed: Performed,
  ports: LoopPorts,
): Promise<{ output: ToolOutput; effects: Effects }> {
  const { tool, input } = performed;
  const effects: { -readonly [Key in keyof Effects]: Effects[Key] } = {};
  const signal = call.byHost ? AbortSignal.timeout(HOST_CHECK_MS) : run.signal;
  const { rowId, targets } = performed;
  const maySee = (file: Target) => isVisible(run, tool, file, ports);
  const mayWrite = (file: Target) => isWritable(run, file, ports);
  const context = { ...contextOf(run, call, effects, ports), rowId, targets, signal, maySee, mayWrite };
  try {
    if (tool.replay !== "safe") await untilAborted(ports.journal.committed(), signal);
    if (signal.aborted) throw new Error("the run was stopped before this call began");
    if (ports.recorded && !tool.delegates) return { output: ports.recorded.result(run, call), effects };
    const output = await untilAborted(tool.execute(input, context), signal);
    return { output: typeof output === "string" ? { text: output } : output, effects };
  } catch (thrown) {
    return { output: { text: `'${call.tool}' failed: ${messageOf(thrown)}`, isError: true }, effects };
  }
}

function contextOf(
  run: Run,
  call: ToolCall,
  effects: { -readonly [Key in keyof Effects]: Effects[Key] },
  ports: LoopPorts,
): Omit<ToolContext, "rowId" | "targets" | "signal" | "maySee" | "mayWrite"> {
  const { spec } = run;
  const { sessionId, runId, projectDir, workspaceDir } = spec;
  return {
    sessionId,
    runId,
    callId: call.callId,
    projectDir,
    workspaceDir,
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
    beforeChange: async () => {},
    aroundChanges: (work) => work(),
    changed(path, kind) {
      effects.files = [...(effects.files ?? []), [path, kind]];
      run.noteChange(path, kind);
      ports.claims.set(path, run.line);
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

/** What a tool such as a shell may write is what the run could write with `write`. */
function isWritable(run: Run, file: Target, ports: LoopPorts): boolean {
  const live = ports.liveLayer();
  const chain = live ? [...run.spec.chain, live] : run.spec.chain;
  const access = { tool: "write", groups: ["filesystem"], targets: [file] };
  return ports.guards.decide(chain, access).verdict === "allow";
}

/** The tool itself must be allowed on the file without asking, and no layer may have a rule against reading it. */
function isVisible(run: Run, { name, groups }: Tool<unknown>, file: Target, ports: LoopPorts): boolean {
  const live = ports.liveLayer();
  const chain = live ? [...run.spec.chain, live] : run.spec.chain;
  if (ports.guards.decide(chain, { tool: name, groups, targets: [file] }).verdict !== "allow") return false;
  return chain.every((layer) => {
    const reading = ports.guards.decide([layer], { tool: "read", groups, targets: [file] });
    return reading.verdict === "allow" || reading.rule === undefined;
  });
}
