import { isRunRow } from "../record/read-tree.ts";
import { metadataOf } from "../run/read-row.ts";
import type { ChildKey, Run } from "../run/run.ts";
import type { MessageNode } from "../schema/record.ts";
import { Divergences } from "./divergence.ts";
import { RecordedRun } from "./recorded-run.ts";

/** The runs of a recorded session by their ids, which a replay uses again, and what differs from them now. */
export class RecordedSession {
  readonly divergences = new Divergences();
  readonly runs = new Map<string, RecordedRun>();
  readonly #children = new Map<string, RecordedRun>();
  readonly #text: (id: string) => string | undefined;

  constructor(roots: readonly MessageNode[], text: (id: string) => string | undefined) {
    this.#text = text;
    const left = roots.map((node) => ({ node, path: "" }));
    for (let at = left.pop(); at; at = left.pop()) {
      const { node } = at;
      const isRun = isRunRow(node);
      const path = isRun ? `${at.path && `${at.path} > `}${node.agent_role}` : at.path;
      if (isRun) this.#add(new RecordedRun(node, path));
      for (const child of node.children) left.push({ node: child, path });
    }
  }

  /** The run that a run of the replay repeats. */
  of(run: Pick<Run, "runId">): RecordedRun | undefined {
    return this.runs.get(run.runId);
  }

  /** A child run, by what its parent asked for. */
  childOf(parent: Pick<Run, "runId">, child: ChildKey): RecordedRun | undefined {
    return this.#children.get(keyOf(parent.runId, child));
  }

  /** A text that the record keeps under its id. */
  text(id: unknown): string | undefined {
    return typeof id === "string" ? this.#text(id) : undefined;
  }

  /** Takes note of a difference; the run goes no further, because what follows would tell nothing. */
  differs(
    run: Pick<Run, "runId" | "turn" | "ancestors" | "agent">,
    what: string,
    recorded: string,
    now: string,
  ): void {
    const then = this.of(run);
    if (then) then.diverged = true;
    const path = then?.path ?? [...run.ancestors, run.agent.name].join(" > ");
    const seq = then?.position ?? Number.POSITIVE_INFINITY;
    this.divergences.note(seq, { run: path, turn: Math.max(1, run.turn), what, recorded, now });
  }

  /** Whether two texts say the same. Runs that never began have no recorded id, so theirs do not count. */
  same(recorded: string, now: string): boolean {
    return recorded === now || this.#withoutUnknownIds(recorded) === this.#withoutUnknownIds(now);
  }

  #withoutUnknownIds(text: string): string {
    return text.replaceAll(/\brun_[A-Za-z0-9]{12}\b/g, (id) => (this.runs.has(id) ? id : "run_"));
  }

  #add(run: RecordedRun): void {
    const { run_id, call_id } = run.node;
    this.runs.set(run_id, run);
    const { parentRun, taskId, attempt } = metadataOf(run.node) as {
      parentRun?: string;
      taskId?: string;
      attempt?: number;
    };
    if (parentRun === undefined) return;
    const child = { callId: call_id ?? "", attempt: attempt ?? 0, ...(taskId !== undefined && { taskId }) };
    this.#children.set(keyOf(parentRun, child), run);
  }
}

function keyOf(parentRunId: string, { callId, taskId, attempt }: ChildKey): string {
  return JSON.stringify([parentRunId, callId, taskId ?? null, attempt]);
}
