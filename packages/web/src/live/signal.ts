import { useEffect, useState, useSyncExternalStore } from "react";

/** A value that tells its listeners when it changes. */
export class Signal<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): Value => this.#value;
}

/** The signal's value, and a new drawing whenever it changes. */
export function useSignal<Value>(signal: Signal<Value>): Value {
  return useSyncExternalStore(signal.subscribe, signal.snapshot);
}

/** A part of the signal's value; drawn again only when that part is another one. `select` must not make new objects. */
export function useSelected<Value, Part>(signal: Signal<Value>, select: (value: Value) => Part): Part {
  return useSyncExternalStore(signal.subscribe, () => select(signal.value));
}

/** Does something once after a while, however often that is asked for meanwhile. */
export function createThrottle(act: () => void, findWaitMs: () => number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    timer = undefined;
    act();
  };
  return {
    soon: () => {
      timer ??= setTimeout(run, Math.max(0, findWaitMs()));
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** A part of the signal's value, at most once in `everyMs`: what streams changes far more often than anyone can read. */
export function useThrottled<Value, Part>(
  signal: Signal<Value>,
  select: (value: Value) => Part,
  everyMs: number,
): Part {
  const [shown, setShown] = useState(() => select(signal.value));
  useEffect(() => {
    let shownAtMs = 0;
    const show = () => {
      shownAtMs = performance.now();
      setShown(() => select(signal.value));
    };
    const throttle = createThrottle(show, () => shownAtMs + everyMs - performance.now());
    show();
    const stop = signal.subscribe(throttle.soon);
    return () => {
      stop();
      throttle.stop();
    };
  }, [signal, select, everyMs]);
  return shown;
}

/** The present moment, once a second while `isWanted`. */
export function useNow(isWanted: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isWanted) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isWanted]);
  return now;
}
