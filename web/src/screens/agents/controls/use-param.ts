import { useCallback } from "react";
import { useSearchParams } from "wouter";

/** One word of the page's address and what changes it; an empty one is taken out of it. */
export function useParam(name: string): [value: string, set: (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (value: string) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          if (value) next.set(name, value);
          else next.delete(name);
          return next;
        },
        { replace: true },
      ),
    [name, setParams],
  );
  return [params.get(name) ?? "", set];
}
