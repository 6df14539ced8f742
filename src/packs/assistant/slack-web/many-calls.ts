import { ToolFault } from "../errors/tool-fault.ts";
import { type Answer, nextCursor, recordsIn } from "./answer.ts";
import type { SlackApi } from "./slack-api.ts";

const PAGE = 999;
/** Slack may give less than was asked for, but not forever. */
const MAX_PAGES = 100;

/** All items of a listing, page by page up to a cap. */
export async function listAll(
  api: SlackApi,
  {
    method,
    field,
    cap,
    ...args
  }: { method: string; field: string; cap: number; types?: string; exclude_archived?: boolean },
  signal: AbortSignal,
): Promise<{ readonly items: readonly Answer[]; readonly isWhole: boolean }> {
  const items: Answer[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const answer = await api.call(method, { ...args, limit: PAGE, cursor }, signal);
    items.push(...recordsIn(answer[field]));
    cursor = nextCursor(answer);
    if (cursor !== undefined && seen.has(cursor))
      throw new ToolFault("tool_error", `Slack's ${method} goes in circles`);
    seen.add(cursor ?? "");
  } while (cursor !== undefined && items.length < cap && seen.size < MAX_PAGES);
  return { items: items.slice(0, cap), isWhole: cursor === undefined && items.length <= cap };
}

/** Works on every item, a few at once, and gives the results in the items' order. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size) {
    results.push(...(await Promise.all(items.slice(start, start + size).map(work))));
  }
  return results;
}

/** The first outcome; where there is no such thing, the second one, if there is a second way. */
export async function orElse<Value>(
  first: Promise<Value>,
  second: (() => Promise<Value>) | undefined,
): Promise<Value> {
  try {
    return await first;
  } catch (thrown) {
    if (!second || !(thrown instanceof ToolFault) || thrown.type !== "params") throw thrown;
    return second();
  }
}
