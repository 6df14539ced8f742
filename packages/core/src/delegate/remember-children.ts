import type { Resumption } from "../run/outcome.ts";
import {
  isClosed,
  metadataOf,
  recordedMoment,
  replyOfRow,
  resultOfRow,
  runningIn,
  turnsOf,
} from "../run/read-row.ts";
import type { DelegationBatch, DelegationRequest, OpenDelegation } from "../schema/delegation.ts";
import type { MessageNode } from "../schema/record.ts";
import { parseJson } from "../tools/validate-input.ts";
import type { Children } from "./children.ts";
import { acceptDelegation } from "./delegation-input.ts";
import { type EarlierAttempts, originOf } from "./earlier-attempts.ts";
import { startBatch } from "./run-batch.ts";

/** Takes up the children of a recorded run: what had ended is known, and what its model was told is running goes on. */
export function rememberChildren(children: Children, node: MessageNode, earlier: EarlierAttempts): void {
  const open = openDelegationsOf(node);
  const byCall = Map.groupBy(open.values(), (one) => one.callId);
  const pending = pendingCalls(children.parent.resumption);
  for (const attempts of earlier.all()) {
    for (const row of attempts)
      if (isClosed(row))
        children.delegations.keep({
          result: resultOfRow(row),
          began: recordedMoment(row.opened_seq),
          ended: recordedMoment(row.closed_seq),
        });
    const [first, last] = [attempts[0], attempts.at(-1)];
    if (!first || !last || !isClosed(last) || open.has(first.run_id) || pending.has(first.call_id)) continue;
    const about = {
      id: first.run_id,
      agent: first.agent_role ?? "",
      task: first.request_content ?? "",
      ...originOf(first),
    };
    children.delegations.recall(about, resultOfRow(last));
  }
  for (const [callId, some] of byCall) restart(children, node, callId, some);
}

/** What the model had been told is running, by id, when the process ended. */
function openDelegationsOf(node: MessageNode): ReadonlyMap<string, OpenDelegation> {
  const latest = turnsOf(node).at(-1);
  const answers = (latest?.children ?? []).filter(isClosed).map((row) => metadataOf(row).children);
  const told = answers as ({ delivered: string[]; running: OpenDelegation[] } | undefined)[];
  const running = [...(latest ? runningIn(latest) : []), ...told.flatMap((one) => one?.running ?? [])];
  const open = new Map(running.map((one) => [one.id, one]));
  for (const id of told.flatMap((one) => one?.delivered ?? [])) open.delete(id);
  return open;
}

/** Calls that get their answer only now, and with it everything that they had begun. */
function pendingCalls(at: Resumption | null): ReadonlySet<string | null> {
  if (at?.kind !== "calls") return new Set();
  return new Set(at.calls.map((call) => call.callId).filter((callId) => !at.answered.has(callId)));
}

/** Does again what a call had asked for; runs that it had begun are found in the record. */
function restart(
  children: Children,
  node: MessageNode,
  callId: string,
  some: readonly OpenDelegation[],
): void {
  const turn = turnsOf(node).find((row) => row.tool_calls_json?.includes(JSON.stringify(callId)));
  const call = turn && replyOfRow(turn).calls.find((one) => one.callId === callId);
  const input = call && parseJson(call.input);
  if (!turn || !call || !input?.ok) return;
  if (call.tool === "delegate_many") {
    const rowId = turn.children.find((row) => row.call_id === callId)?.id ?? turn.id;
    const open = new Map(some.map((one) => [one.taskId ?? "", one.id]));
    startBatch(children, input.value as DelegationBatch, { callId, rowId }, open);
  } else {
    const request = acceptDelegation(input.value as Record<string, unknown>, () => {}) as DelegationRequest;
    for (const { id } of some) children.start(request, { callId, rowId: turn.id }, id);
  }
}
