import type { SessionStore } from "../../../live/session-store.ts";
import type { Said } from "../chat-view.ts";

/** Of older tasks it is not looked up: each look is a request. */
const MOST_ROOTS = 8;

/** The root runs whose record tells what was said to them. */
export function heardRoots(store: SessionStore): readonly string[] {
  return store.roots.value.slice(-MOST_ROOTS);
}

/** What the person said to root runs while they worked: what the record has, and what is still on its way there. */
export function saidSoFar(store: SessionStore, justSaid: readonly Said[]): Said[] {
  return heardRoots(store).flatMap((runId) => {
    const heard = store.steps(runId).value.flatMap(({ steered = [] }) => steered);
    const waiting = [...heard];
    const onTheWay = justSaid.filter((one) => {
      if (one.runId !== runId) return false;
      const at = waiting.indexOf(one.text);
      if (at >= 0) waiting.splice(at, 1);
      return at < 0;
    });
    return [
      ...heard.map((text, index) => ({ id: `${runId}-${index.toString()}`, runId, text })),
      ...onTheWay,
    ];
  });
}
