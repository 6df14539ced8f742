import { Infinity as Endless, Hourglass } from "lucide-react";
import { useNow } from "../../live/use-now.ts";
import { join } from "../join.ts";
import { showDuration } from "../measures.ts";

const SOON_MS = 60_000;

/** How long there is to answer before it is denied by itself. */
export function Countdown({ expiresAtMs }: { expiresAtMs: number | null }) {
  const now = useNow(expiresAtMs !== null);
  if (expiresAtMs === null)
    return (
      <span className="inline-flex items-center gap-1 text-xs text-ink-3">
        <Endless aria-hidden className="size-3.5" /> waits as long as it takes
      </span>
    );
  const leftMs = expiresAtMs - now;
  return (
    <span
      role="timer"
      className={join(
        "figures inline-flex items-center gap-1 text-xs",
        leftMs < SOON_MS ? "font-medium text-bad" : "text-ink-3",
      )}
    >
      <Hourglass aria-hidden className="size-3.5" />
      {leftMs <= 0 ? "time is up" : `denied by itself in ${showDuration(Math.ceil(leftMs / 1_000) * 1_000)}`}
    </span>
  );
}
