import { useCallback, useMemo, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { withQuery } from "../../api/client.ts";
import { tell } from "../../ui/toast.tsx";

/** Two sessions are compared, never more. */
const MOST_TICKS = 2;

/** The address of the list with these sessions ticked. */
export function tickedPath(ids: readonly string[]): string {
  return withQuery("/runs", { ticked: ids.join(",") });
}

/** The sessions that an address names as ticked, each once, in the order in which they were. */
export function ticksIn(text: string | null): string[] {
  const ids = (text ?? "").split(",").filter(Boolean);
  return [...new Set(ids)].slice(0, MOST_TICKS);
}

/** Sessions that were ticked to be compared, which live in the address. A third is refused: nothing unticks itself. */
export function useTicks() {
  const [params, setParams] = useSearchParams();
  const [, go] = useLocation();
  const text = params.get("ticked");
  const ticked = useMemo(() => ticksIn(text), [text]);
  const [isRefused, setRefused] = useState(false);
  const set = (ids: readonly string[]) => {
    setRefused(false);
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (ids.length === 0) after.delete("ticked");
        else after.set("ticked", ids.join(","));
        return after;
      },
      { replace: true },
    );
  };
  const latest = useRef((_: string) => {});
  latest.current = (id) => {
    if (ticked.includes(id)) set(ticked.filter((one) => one !== id));
    else if (ticked.length < MOST_TICKS) set([...ticked, id]);
    else setRefused(true);
  };
  const compare = () => {
    const [a, b] = ticked;
    if (a !== undefined && b !== undefined) go(withQuery("/compare", { a, b }));
    else tell("Tick two sessions first: Space ticks the one that has the focus.");
  };
  return {
    ticked,
    isRefused,
    /** The same function each time, so that rows are drawn again only when something about them changed. */
    toggle: useCallback((id: string) => latest.current(id), []),
    clear: () => set([]),
    compare,
  };
}
