import { ShieldAlert, ShieldCheck, ShieldQuestion } from "lucide-react";
import type { ComponentType } from "react";
import type { Risk } from "../../../../src/schema/rights.ts";
import { join } from "../join.ts";

type Look = { word: string; tone: string; icon: ComponentType<{ className?: string }>; means: string };

const LOOKS: Readonly<Record<Risk, Look>> = {
  low: { word: "low risk", tone: "text-off bg-off-soft", icon: ShieldCheck, means: "It only reads." },
  medium: {
    word: "medium risk",
    tone: "text-warn bg-warn-soft",
    icon: ShieldQuestion,
    means: "It makes a contained change.",
  },
  high: {
    word: "high risk",
    tone: "text-bad bg-bad-soft",
    icon: ShieldAlert,
    means: "It reaches outside, changes much at once, or cannot be undone.",
  },
};

/** How much a call can do, as icon and word. */
export function RiskBadge({ risk }: { risk: Risk }) {
  const { word, tone, icon: Icon, means } = LOOKS[risk];
  return (
    <span
      title={means}
      className={join(
        "inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-1.5 text-2xs font-medium whitespace-nowrap",
        tone,
      )}
    >
      <Icon aria-hidden className="size-3.5" /> {word}
    </span>
  );
}

/** What such a risk means, in a sentence. */
export function riskMeaning(risk: Risk): string {
  return LOOKS[risk].means;
}
