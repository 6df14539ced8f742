import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleEllipsis,
  CirclePause,
  CircleX,
  Hand,
  Info,
  LoaderCircle,
  type LucideIcon,
  TimerOff,
  TriangleAlert,
  Unplug,
} from "lucide-react";
import type { ComponentProps } from "react";
import { join } from "./class-names.ts";

/** How something is told at a glance: word, colour, ground and icon; never the colour alone. */
export type BadgeLook = { word: string; tone: string; soft?: string; icon: LucideIcon; spins?: true };

/** By how something stands: a run's or session's status, or a finer word for it. */
const LOOKS: Readonly<Record<string, BadgeLook>> = {
  "not begun": { word: "not begun", tone: "text-off", soft: "bg-off-soft", icon: CircleDashed },
  pending: { word: "queued", tone: "text-off", soft: "bg-off-soft", icon: CircleDashed },
  running: { word: "running", tone: "text-run", soft: "bg-run-soft", icon: LoaderCircle, spins: true },
  waiting: { word: "needs you", tone: "text-warn", soft: "bg-warn-soft", icon: Hand },
  paused: { word: "paused", tone: "text-warn", soft: "bg-warn-soft", icon: CirclePause },
  completed: { word: "done", tone: "text-ok", soft: "bg-ok-soft", icon: CircleCheck },
  partial: { word: "partial", tone: "text-warn", soft: "bg-warn-soft", icon: CircleAlert },
  failed: { word: "failed", tone: "text-bad", soft: "bg-bad-soft", icon: CircleX },
  timeout: { word: "timed out", tone: "text-bad", soft: "bg-bad-soft", icon: TimerOff },
  cancelled: { word: "stopped", tone: "text-off", soft: "bg-off-soft", icon: Ban },
  interrupted: { word: "interrupted", tone: "text-warn", soft: "bg-warn-soft", icon: Unplug },
};

const UNKNOWN: BadgeLook = { word: "unknown", tone: "text-off", soft: "bg-off-soft", icon: CircleEllipsis };

/** How grave something is that is said. */
export const SEVERITIES: Readonly<Record<"info" | "warning" | "error", BadgeLook>> = {
  info: { word: "Note", tone: "text-run", soft: "bg-run-soft", icon: Info },
  warning: { word: "Warning", tone: "text-warn", soft: "bg-warn-soft", icon: TriangleAlert },
  error: { word: "Error", tone: "text-bad", soft: "bg-bad-soft", icon: CircleX },
};

/** The look of a standing, whatever word the server used. */
export function findLook(standing: string): BadgeLook {
  return LOOKS[standing] ?? { ...UNKNOWN, word: standing };
}

/** The icon of a standing; its word is beside it, or given to screen readers here. */
export function StatusIcon({ standing, labelled = false }: { standing: string; labelled?: boolean }) {
  const look = findLook(standing);
  const { tone, word } = look;
  return (
    <span
      className={join("inline-flex shrink-0", tone)}
      {...(labelled ? { role: "img", "aria-label": word, title: word } : { "aria-hidden": true })}
    >
      <LookIcon look={look} />
    </span>
  );
}

function LookIcon({ look: { icon: Icon, spins } }: { look: BadgeLook }) {
  return (
    <Icon
      aria-hidden
      className={join("size-3.5 shrink-0", spins && "animate-spin [animation-duration:1.6s]")}
    />
  );
}

/** Icon and word; `quiet` has no ground. What follows the word is given as children. */
export function Badge({
  look,
  quiet = false,
  className,
  children,
  ...rest
}: ComponentProps<"span"> & { look: BadgeLook; quiet?: boolean }) {
  return (
    <span
      {...rest}
      className={join(
        "inline-flex h-5 shrink-0 items-center gap-1 rounded-full text-2xs font-medium whitespace-nowrap",
        look.tone,
        !quiet && join("px-1.5", look.soft),
        className,
      )}
    >
      <LookIcon look={look} />
      {look.word}
      {children}
    </span>
  );
}

/** How a run or session stands, as icon and word. */
export function StatusBadge({ standing, quiet = false }: { standing: string; quiet?: boolean }) {
  return <Badge data-status={standing} look={findLook(standing)} quiet={quiet} />;
}
