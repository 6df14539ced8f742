import type { Clock } from "../../budget/clock.ts";
import { untilAborted } from "../../budget/until-aborted.ts";
import { dividesFiles } from "../../rights/explain.ts";
import { messageOf } from "../../schema/error.ts";
import type { Decision, Layer, Target } from "../../schema/rights.ts";
import { isOffered, type Tool, type ToolContext, type ToolOutput } from "../../tools/tool.ts";
import { claimFile, takePath } from "../claims.ts";
import type { ToolCall } from "../model/reply.ts";
import type { CallChanges } from "../ports.ts";
import type { Run, UntrustedFiles } from "../run.ts";
import type { Effects } from "./record-call.ts";

/** A call that passed every check, and the row that tells of it. */
export type Performed = {
  tool: Tool<unknown>;
  input: unknown;
  targets: readonly Target[];
  /** What it asks the web for whose answer may hold what the run knows. */
  carrying: readonly string[];
  /** Who allowed it, if it had to be asked for. */
  approvedBy?: string;
  rowId: number;
  /** Why a call that the tool's own code makes is refused; null if it is not. */
  refuse(nested: ToolCall): Promise<string | null>;
  /** Marks the run: a child that the tool's own code started brought untrusted text. */
  taint(): void;
};

/** How long a command that checks a deliverable may take; it runs even if the run itself was stopped. */
const HOST_CHECK_MS = 120_000;

/** Executes a tool. The row of a call that must not run twice is on disk before it begins. Never throws. */
export async function performCall(
  run: Run,
  call: ToolCall,
  performed: Performed,
): Promise<{ output: ToolOutput; effects: Effects }> {
  const { tool, input } = performed;
  const effects: { -readonly [Key in keyof Effects]: Effects[Key] } = {};
  const signal = call.byHost ? AbortSignal.timeout(HOST_CHECK_MS) : run.signal;
  const { rowId, targets } = performed;
  const seen = new Set<string>();
  const chain = chainOf(run, targets);
  const maySee = (file: Target) => {
    const isSeen = isVisible({ run, chain }, performed, file);
    if (isSeen && file.kind === "path") seen.add(file.path);
    return isSeen;
  };
  const mayWrite = (file: Target) => isWritable(run, chain, file);
  const base = contextOf(run, call, effects);
  const changes = noteWritten(run, run.host.keepChanges({ ...base, rowId, signal }), effects);
  const { beforeChange, aroundChanges } = changes;
  const holds = (name: string) => {
    const held = run.tools.get(name);
    return held !== undefined && isOffered(name, held);
  };
  let tainted = false;
  const onTainted = () => {
    tainted = true;
    performed.taint();
  };
  const children =
    tool.delegates === "program" &&
    run.children?.createSpawner({ call, rowId, refuse: performed.refuse, onTainted });
  const context: ToolContext = {
    ...base,
    rowId,
    targets,
    signal,
    maySee,
    mayWrite,
    holds,
    get dividesFiles() {
      return divisions(chain, tool);
    },
    beforeChange,
    aroundChanges,
    ...(children && { children }),
  };
  try {
    if (tool.replay !== "safe") await untilAborted(run.session.journal.committed(), signal);
    if (signal.aborted) throw new Error("the run was stopped before this call began");
    const answer = await settled(tool.execute(input, context), changes, { signal, clock: run.host.clock });
    const output = withTaint(answer, tainted);
    // Of a command it was asked what it may see, not what it saw; that was judged before.
    const isSearch = !run.tainted && !targets.some(({ kind }) => kind === "command");
    if (isSearch && run.host.guards.taintsReader(await run.host.untrusted.show(run, seen)))
      output.tainted = true;
    // Its own output taints the run, and with it what it wrote before that was known.
    if ((output.tainted || tool.untrusted) && !run.tainted)
      await run.host.untrusted.note(run, pathsIn(effects));
    return { output, effects };
  } catch (thrown) {
    const failed = { text: `'${call.tool}' failed: ${messageOf(thrown)}`, isError: true };
    return { output: withTaint(failed, tainted), effects };
  }
}

/** What a tool says may hold what its children said. */
function withTaint(output: ToolOutput | string, tainted: boolean): ToolOutput {
  const full = typeof output === "string" ? { text: output } : output;
  return tainted ? { ...full, tainted } : full;
}

/** The books of a call, with a second one for a tainted run: what it changes is untrusted from the moment it may. */
function noteWritten(run: Run, changes: CallChanges, effects: Effects): CallChanges {
  let finish: ReturnType<UntrustedFiles["begin"]> | undefined;
  let isAllKnown = true;
  const begin = async () => {
    if (run.tainted) finish ??= run.host.untrusted.begin(run);
    await finish;
  };
  return {
    get busy() {
      return changes.busy;
    },
    async beforeChange(path) {
      await begin();
      await changes.beforeChange(path);
    },
    async aroundChanges(work) {
      await begin();
      isAllKnown = false;
      return changes.aroundChanges(work);
    },
    async end() {
      const notes = await changes.end();
      // What cannot be noted stays untrusted as a whole.
      await finish?.then((note) => note(pathsIn(effects), isAllKnown)).catch(() => {});
      return notes;
    },
  };
}

function pathsIn({ files = [] }: Effects): string[] {
  return files.map(([path]) => path);
}

/** A stopped call that was changing something gets this long to end, so that what it did is on record. */
const LAST_CHANGES_MS = 10_000;

/** The output of a tool, with the books of its changes closed once it has really ended, even if nobody waits for it. */
async function settled(
  executing: Promise<ToolOutput | string>,
  changes: CallChanges,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<ToolOutput | string> {
  let closing: Promise<readonly string[]> | undefined;
  const close = () => (closing ??= changes.end());
  const finish = async () => {
    const output = await executing;
    const notes = await close();
    return notes.length === 0 ? output : withNotes(output, notes);
  };
  try {
    return await untilAborted(finish(), signal);
  } catch (thrown) {
    const ended = executing.then(close, close);
    ended.catch(() => {});
    if (changes.busy) await atMost(LAST_CHANGES_MS, ended, clock);
    throw thrown;
  }
}

function atMost(limitMs: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.timer(limitMs, resolve);
    work
      .catch(() => {})
      .finally(() => {
        stop();
        resolve();
      });
  });
}

function withNotes(output: ToolOutput | string, notes: readonly string[]): ToolOutput {
  const full = typeof output === "string" ? { text: output } : output;
  return { ...full, text: `${full.text}\n\nNote: ${notes.join("\nNote: ")}` };
}

function contextOf(
  run: Run,
  call: ToolCall,
  effects: { -readonly [Key in keyof Effects]: Effects[Key] },
): Omit<
  ToolContext,
  | "rowId"
  | "targets"
  | "signal"
  | "maySee"
  | "mayWrite"
  | "holds"
  | "dividesFiles"
  | "beforeChange"
  | "aroundChanges"
  | "children"
> {
  const { runId, projectDir, workspaceDir, cwd } = run;
  return {
    sessionId: run.session.id,
    runId,
    callId: call.callId,
    turn: run.turn,
    projectDir,
    workspaceDir,
    cwd,
    takePath: (path) => takePath(run, path),
    progress(text) {
      const message = run.host.redactor.redact(text);
      run.session.emit({
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
      run.session.claims.set(
        path,
        claimFile(run.session.claims.get(path), {
          line: run.line,
          kind,
          moment: run.host.clock.monotonicMs(),
        }),
      );
    },
    observed: (path, text) => run.session.observe(run, path, text),
    tested(suite, { run: count, passed, part_of, fault }) {
      const tests = run.host.redactor.redactJson({
        suite,
        run: count,
        passed,
        at_ms: run.host.clock.wallMs(),
        ...(part_of && { part_of }),
        ...(fault !== undefined && { fault }),
      });
      effects.tests = [...(effects.tests ?? []), tests];
      run.noteTests(tests);
    },
  };
}

/** The rights of a run as they are now, for a call with these targets. */
export function chainOf(run: Run, targets: readonly Target[]): readonly Layer[] {
  const writes = targets.flatMap((target) =>
    target.kind === "path" && target.mode === "write" ? [target.path] : [],
  );
  const live = run.host.liveLayers(run.projectDir, writes);
  return live.length === 0 ? run.chain : [...run.chain, ...live];
}

function divisions(
  chain: readonly Layer[],
  { groups }: Tool<unknown>,
): NonNullable<ToolContext["dividesFiles"]> {
  return {
    read: dividesFiles(chain, { tool: "read", groups }),
    write: dividesFiles(chain, { tool: "write", groups: ["filesystem"] }),
  };
}

/** What a tool such as a shell may write is what the run could write with `write`. */
function isWritable(run: Run, chain: readonly Layer[], file: Target): boolean {
  const access = { tool: "write", groups: ["filesystem"], targets: [file] };
  return run.host.guards.decide(chain, access).verdict === "allow";
}

/**
 * The tool itself must be allowed on the file without asking, and no layer may have a rule against reading it. Rules on
 * a shell speak of commands, so of files only those on reading count. A rule that asks about every call of the tool was
 * answered when this call was allowed.
 */
function isVisible(
  { run, chain }: { run: Run; chain: readonly Layer[] },
  performed: Performed,
  file: Target,
): boolean {
  const { tool, approvedBy } = performed;
  const { name, groups } = tool;
  const says = (layers: readonly Layer[], asked: string) =>
    run.host.guards.decide(layers, { tool: asked, groups, targets: [file] });
  const isHandedOn =
    file.kind === "host" && performed.carrying.length > 0 && !isSameSite(file.host, performed.targets);
  const isSteered = run.tainted || run.session.projectText.hasEntered;
  if (isHandedOn && isSteered && run.privateData && !says(chain, name).consented) return false;
  const isAnswered = ({ verdict, rule }: Decision) =>
    approvedBy !== undefined && verdict === "ask" && rule?.includes("(") === false;
  if (!groups.includes("shell")) {
    const own = says(chain, name);
    if (own.verdict !== "allow" && !isAnswered(own)) return false;
  }
  return chain.every((layer) => {
    const reading = says([layer], "read");
    if (reading.verdict === "allow" || reading.rule === undefined) return true;
    return isAnswered(reading) && says([layer], name).rule === reading.rule;
  });
}

/** What a request carries was allowed for a host; another must not get it by a redirect from there. */
function isSameSite(host: string, targets: readonly Target[]): boolean {
  const site = (name: string) => name.replace(/^www\./, "");
  return targets.some((target) => target.kind === "host" && site(target.host) === site(host));
}
