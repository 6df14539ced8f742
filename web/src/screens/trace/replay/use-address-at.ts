import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { Signal } from "../../../live/signal.ts";
import { useTraceAddress } from "../use-trace-address.ts";

/** While the playhead moves the address follows so often: browsers take only so many changes of it. */
const WRITE_MS = 300;

/**
 * Where the playhead stands, which the address says as well; null is now. To enter a replay is a step back can undo, also
 * while it plays: an address that somebody else changed stops it.
 */
export function useAddressAt(isPlaying: Signal<boolean>) {
  const { atMs: asked, change } = useTraceAddress();
  const [at] = useState(() => new Signal<number | null>(asked));
  const written = useRef(asked);
  // Layout effects, because a page that is left is only hidden until the next one is loaded.
  useLayoutEffect(() => {
    if (asked === written.current) return;
    written.current = asked;
    isPlaying.set(false);
    at.set(asked);
  }, [asked, at, isPlaying]);
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const write = () => {
      timer = undefined;
      const { value } = at;
      if (value === null || value === written.current) return;
      written.current = value;
      change({ at: String(value) });
    };
    const stop = at.subscribe(() => {
      timer ??= setTimeout(write, WRITE_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [at, change]);
  const show = useCallback(
    (atMs: number | null) => {
      written.current = atMs;
      at.set(atMs);
      change({ at: atMs === null ? null : String(atMs) }, { replace: atMs === null });
    },
    [at, change],
  );
  return { at, show };
}
