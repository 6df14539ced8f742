import { useCallback, useMemo, useRef } from "react";
import { useLocation, useSearchParams } from "wouter";
import { withQuery } from "../../api/client.ts";
import { tell } from "../../ui/toast.tsx";

/** The address of the list with these sessions ticked. */
export function tickedPath(ids: readonly string[]): string {
  return withQuery("/runs", { ticked: ids.join(",") });
}

/** The sessions that an address names as ticked, each once, in the order in which they were. */
export function ticksIn(text: string | null): string[] {
  const ids = (text ?? "").split(",").filter(Boolean);
  return [...new Set(ids)];
}

/** Sessions that were ticked to be compared or deleted, which live in the address. */
export function useTicks() {
  const [params, setParams] = useSearchParams();
  const [, go] = useLocation();
  const text = params.get("ticked");
  const ticked = useMemo(() => ticksIn(text), [text]);
  const set = (ids: readonly string[]) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (ids.length === 0) after.delete("ticked");
        else after.set("ticked", ids.join(","));
        return after;
      },
      { replace: true },
    );
  const latest = useRef((_: string) => {});
  latest.current = (id) => set(ticked.includes(id) ? ticked.filter((one) => one !== id) : [...ticked, id]);
  const compare = () => {
    const [a, b, ...more] = ticked;
    if (a === undefined || b === undefined)
      tell("Tick two sessions first: Space ticks the one that has the focus.");
    else if (more.length > 0) tell(`Two sessions are compared, and ${ticked.length} are ticked.`);
    else go(withQuery("/compare", { a, b }));
  };
  return {
    ticked,
    /** The same function each time, so that rows are drawn again only when something about them changed. */
    toggle: useCallback((id: string) => latest.current(id), []),
    clear: () => set([]),
    compare,
  };
}
