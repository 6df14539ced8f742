import { momentOf } from "../../runtime/trace/trace-row.ts";
import type { MomentList } from "../../schema/api/inspect.ts";
import type { Store } from "../../store/create-store.ts";

/** A page of when the model and tool calls of a session began and ended. */
export function readMoments(
  store: Pick<Store, "momentsAfter">,
  sessionId: string,
  { after, limit }: { after: number; limit: number },
): MomentList {
  const found = store.momentsAfter(sessionId, after, limit + 1);
  const page = found.slice(0, limit);
  const runs = new Map<string, number>();
  const tools = new Map<string, number>();
  const columns = {
    run: page.map(({ runId }) => placeIn(runs, runId)),
    tool: page.map(({ tool }) => (tool === null ? null : placeIn(tools, tool))),
    startedAtMs: page.map(({ startedAt }) => momentOf(startedAt)),
    endedAtMs: page.map(({ endedAt }) => (endedAt === null ? null : momentOf(endedAt))),
    tokens: page.map(({ tokens }) => tokens),
    costUsd: page.map(({ costUsd }) => costUsd),
  };
  const next = found.length > limit ? (page.at(-1)?.seq ?? null) : null;
  return { runIds: [...runs.keys()], tools: [...tools.keys()], ...columns, next };
}

/** The place of a name in a list that grows. */
function placeIn(names: Map<string, number>, name: string): number {
  const known = names.get(name);
  if (known !== undefined) return known;
  names.set(name, names.size);
  return names.size - 1;
}
