import { CircleAlert, CircleCheck, CircleMinus, CircleX } from "lucide-react";
import type { ComponentType } from "react";
import { join } from "../../ui/join.ts";

/** How something stands: a check's verdict, or the severity of a problem in a file. */
export type Standing = "ok" | "warning" | "problem" | "skipped" | "note";

type Look = { word: string; tone: string; icon: ComponentType<{ className?: string }> };

const LOOKS: Readonly<Record<Standing, Look>> = {
  ok: { word: "works", tone: "text-ok", icon: CircleCheck },
  warning: { word: "warning", tone: "text-warn", icon: CircleAlert },
  problem: { word: "problem", tone: "text-bad", icon: CircleX },
  skipped: { word: "skipped", tone: "text-off", icon: CircleMinus },
  note: { word: "note", tone: "text-off", icon: CircleMinus },
};

/** Icon and word of a standing, in a column of its own width. */
export function VerdictBadge({ standing }: { standing: Standing }) {
  const { word, tone, icon: Icon } = LOOKS[standing];
  return (
    <span
      data-verdict={standing}
      className={join(
        "inline-flex h-5 w-24 shrink-0 items-center self-start gap-1.5 text-xs font-medium",
        tone,
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" /> {word}
    </span>
  );
}
