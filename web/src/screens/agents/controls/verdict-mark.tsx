import { CircleCheck, CircleDashed, CircleHelp, CircleX } from "lucide-react";
import type { ComponentType } from "react";
import type { RightsRow } from "../../../../../src/schema/api/agent.ts";
import { join } from "../../../ui/join.ts";

type Look = { word: string; tone: string; soft: string; icon: ComponentType<{ className?: string }> };

/** Icon, word and colour of each verdict: never the colour alone. */
export const VERDICTS: Readonly<Record<RightsRow["verdict"], Look>> = {
  allow: { word: "allowed", tone: "text-ok", soft: "bg-ok-soft", icon: CircleCheck },
  ask: { word: "asks you", tone: "text-warn", soft: "bg-warn-soft", icon: CircleHelp },
  depends: { word: "depends", tone: "text-run", soft: "bg-run-soft", icon: CircleDashed },
  deny: { word: "denied", tone: "text-bad", soft: "bg-bad-soft", icon: CircleX },
};

/** What becomes of a call, as icon and word. */
export function VerdictMark({ verdict }: { verdict: RightsRow["verdict"] }) {
  const { word, tone, icon: Icon } = VERDICTS[verdict];
  return (
    <span
      data-verdict={verdict}
      className={join("inline-flex items-center gap-1 text-xs font-medium whitespace-nowrap", tone)}
    >
      <Icon aria-hidden className="size-3.5 shrink-0" />
      {word}
    </span>
  );
}
