import type { ExecutionPlan } from "../../../../../src/schema/plan.ts";
import type { Draft } from "./plan-draft.ts";

const kept = new Map<string, Draft>();

/** A plan that was changed by others meanwhile is another one. */
const keyOf = ({ id, version }: ExecutionPlan) => `${id} ${version}`;

/** What was changed of a plan and not saved before the page went elsewhere. */
export function keptDraft(plan: ExecutionPlan): Draft | undefined {
  return kept.get(keyOf(plan));
}

/** Keeps changes for as long as the page is open; null forgets them. */
export function keepDraft(plan: ExecutionPlan, draft: Draft | null): void {
  if (draft) kept.set(keyOf(plan), draft);
  else kept.delete(keyOf(plan));
}
