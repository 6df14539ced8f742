import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Gate } from "../budget/gate.ts";
import type { Record } from "../record/record.ts";
import { RetinueError } from "../schema/error.ts";

const gates = new Map<string, Gate>();
const WAIT_MS = 100;
const WAITS = 300;

/**
 * Lets one merge or undo work on a folder, or on the worktrees of a repository, at a time: in this process by waiting in line, between processes by a lease
 * in the record, which a crash gives back.
 */
export async function withProjectLock<Value>(
  record: Pick<Record, "takeLease">,
  root: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const gate = gates.get(root) ?? new Gate(1);
  gates.set(root, gate);
  return gate.run(async () => {
    const release = await takeLease(record, root);
    try {
      return await work();
    } finally {
      await release();
    }
  });
}

async function takeLease(record: Pick<Record, "takeLease">, root: string): Promise<() => Promise<void>> {
  const name = `project ${createHash("sha256").update(root).digest("hex").slice(0, 24)}`;
  for (let waits = 0; ; waits++) {
    try {
      return await record.takeLease(name);
    } catch (thrown) {
      if (!(thrown instanceof RetinueError)) throw thrown;
      if (waits === WAITS)
        throw new RetinueError(
          "failed",
          `another process is at work in ${root}`,
          "wait for it, or end it, and try again",
          { cause: thrown },
        );
      await sleep(WAIT_MS);
    }
  }
}
