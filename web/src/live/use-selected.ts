import { useSyncExternalStore } from "react";
import type { Signal } from "./signal.ts";

/** A part of the signal's value; drawn again only when that part is another one. `select` must not make new objects. */
export function useSelected<Value, Part>(signal: Signal<Value>, select: (value: Value) => Part): Part {
  return useSyncExternalStore(signal.subscribe, () => select(signal.value));
}
