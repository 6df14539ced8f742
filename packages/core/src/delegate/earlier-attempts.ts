import { metadataOf } from "../run/read-row.ts";
import type { MessageNode } from "../schema/record.ts";

/** Where a delegation came from: the parent's call, its task in a batch, and the row its runs hang from. */
export type Origin = { callId: string; rowId: number; taskId?: string; byProgram?: boolean };

/** The runs that delegations of a recorded run had begun, by call and task, attempt after attempt. */
export class EarlierAttempts {
  readonly #attempts = new Map<string, MessageNode[]>();

  constructor(parent?: MessageNode) {
    // Delegations hang from turns and their calls. A run that judged another hangs from that one, and is none.
    const turns = (parent?.children ?? []).filter((row) => row.request_type === "continuation");
    for (const turn of turns)
      for (const row of turn.children.flatMap((child) => (isCall(child) ? child.children : child)))
        if (row.request_type === "delegation") this.#add(row);
  }

  /** The attempts of one delegation, the first one first. */
  of(origin: Pick<Origin, "callId" | "taskId">): readonly MessageNode[] {
    return this.#attempts.get(keyOf(origin)) ?? [];
  }

  /** All delegations that had begun. */
  all(): Iterable<readonly MessageNode[]> {
    return this.#attempts.values();
  }

  #add(row: MessageNode): void {
    const key = keyOf(originOf(row));
    this.#attempts.set(key, [...(this.#attempts.get(key) ?? []), row]);
  }
}

function isCall(row: MessageNode): boolean {
  return row.request_type === "tool_call";
}

/** The call, and the task in its batch, that a recorded child run came from. */
export function originOf(row: MessageNode): Pick<Origin, "callId" | "taskId"> {
  const { taskId } = metadataOf(row) as { taskId?: string };
  return { callId: row.call_id ?? "", ...(taskId !== undefined && { taskId }) };
}

function keyOf({ callId, taskId }: Pick<Origin, "callId" | "taskId">): string {
  return taskId === undefined ? callId : `${callId} ${taskId}`;
}
