import { useEffect, useState } from "react";
import type { Signal } from "./signal.ts";

/** A part of the signal's value, at most once in `everyMs`: what streams changes far more often than anyone can read. */
export function useThrottled<Value, Part>(
  signal: Signal<Value>,
  select: (value: Value) => Part,
  everyMs: number,
): Part {
  const [shown, setShown] = useState(() => select(signal.value));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let shownAtMs = 0;
    const show = () => {
      timer = undefined;
      shownAtMs = performance.now();
      setShown(() => select(signal.value));
    };
    const onChange = () => {
      timer ??= setTimeout(show, Math.max(0, shownAtMs + everyMs - performance.now()));
    };
    show();
    const stop = signal.subscribe(onChange);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [signal, select, everyMs]);
  return shown;
}
