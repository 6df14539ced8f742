import type { Risk } from "@retinue/core/schema/rights";
import { showSpacedDuration } from "@retinue/core/show/measures";
import {
  ChevronRight,
  Infinity as Endless,
  Hourglass,
  ShieldAlert,
  ShieldCheck,
  ShieldQuestion,
} from "lucide-react";
import { Fragment } from "react";
import { useNow } from "../live/signal.ts";
import { join } from "./class-names.ts";
import { AgentName } from "./face.tsx";
import { Badge, type BadgeLook } from "./status.tsx";

/** Who asks: every agent from the root down to the one that would make the call. */
export function AgentChain({ chain }: { chain: readonly string[] }) {
  return (
    <span className="inline-flex max-w-full flex-wrap items-center gap-x-1 gap-y-0.5 text-sm">
      {chain.map((name, depth) => (
        // An agent may stand in its own chain twice.
        <Fragment key={`${depth.toString()} ${name}`}>
          {depth > 0 && (
            <>
              <ChevronRight aria-hidden className="size-3 shrink-0 text-ink-3" />
              <span className="sr-only"> delegated to </span>
            </>
          )}
          <AgentName name={name} size="sm" />
        </Fragment>
      ))}
    </span>
  );
}

const SOON_MS = 60_000;

/** How long there is to answer before it is auto-denied. */
export function Countdown({ expiresAtMs }: { expiresAtMs: number | null }) {
  const now = useNow(expiresAtMs !== null);
  if (expiresAtMs === null)
    return (
      <span className="inline-flex items-center gap-1 text-xs text-ink-3">
        <Endless aria-hidden className="size-3.5" /> no time limit
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
      {leftMs <= 0 ? "time is up" : `auto-denied in ${showSpacedDuration(Math.ceil(leftMs / 1_000) * 1_000)}`}
    </span>
  );
}

/** How much a call can do, and what that means in a sentence. */
export const RISKS: Readonly<Record<Risk, BadgeLook & { means: string }>> = {
  low: {
    word: "low risk",
    tone: "text-off",
    soft: "bg-off-soft",
    icon: ShieldCheck,
    means: "It only reads.",
  },
  medium: {
    word: "medium risk",
    tone: "text-warn",
    soft: "bg-warn-soft",
    icon: ShieldQuestion,
    means: "It makes a contained change.",
  },
  high: {
    word: "high risk",
    tone: "text-bad",
    soft: "bg-bad-soft",
    icon: ShieldAlert,
    means: "It reaches outside, changes much at once, or cannot be undone.",
  },
};

/** How much a call can do, as icon and word. */
export function RiskBadge({ risk }: { risk: Risk }) {
  return <Badge look={RISKS[risk]} title={RISKS[risk].means} />;
}
