import type { Problem } from "@retinue/core/schema/agent";
import type { AgentCard, AgentHealth, RightsRow } from "@retinue/core/schema/api/agent";
import { showCount } from "@retinue/core/show/measures";
import { CircleCheck, CircleDashed, CircleHelp, CircleX, Info, TriangleAlert } from "lucide-react";
import type { ComponentType, ReactNode } from "react";
import { encodePart } from "../../data/client.ts";
import { join } from "../../ui/class-names.ts";

/** How sound an agent file is, as icon, count and word. */
export function HealthMark({ health: { errors, warnings } }: { health: AgentHealth }) {
  if (errors + warnings === 0) {
    return (
      <span className="inline-flex shrink-0 items-center gap-1 text-2xs text-ok">
        <CircleCheck aria-hidden className="size-3" /> sound
      </span>
    );
  }
  return (
    <span className="inline-flex shrink-0 items-center gap-2 text-2xs font-medium">
      {errors > 0 && (
        <span className="inline-flex items-center gap-1 text-bad">
          <CircleX aria-hidden className="size-3" /> {showCount(errors, "error")}
        </span>
      )}
      {warnings > 0 && (
        <span className="inline-flex items-center gap-1 text-warn">
          <TriangleAlert aria-hidden className="size-3" /> {showCount(warnings, "warning")}
        </span>
      )}
    </span>
  );
}

const LOOKS = {
  error: { icon: CircleX, tone: "text-bad", word: "Error" },
  warning: { icon: TriangleAlert, tone: "text-warn", word: "Warning" },
  info: { icon: Info, tone: "text-run", word: "Note" },
};

/** What is wrong, where, and what to do about it. */
export function ProblemLine({ problem, place }: { problem: Problem; place: ReactNode }) {
  const { icon: Icon, tone, word } = LOOKS[problem.severity];
  return (
    <div className="flex gap-2 text-xs">
      <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", tone)} />
      <div className="min-w-0 wrap-anywhere">
        <p>
          <span className={join("font-medium", tone)}>{word}</span> {problem.message}
        </p>
        {problem.fix && <p className="text-ink-2">{problem.fix}</p>}
        <div className="font-mono text-2xs text-ink-3">{place}</div>
      </div>
    </div>
  );
}

/** Where agents come from, in the order they are found. */
export const SCOPES: Readonly<Record<AgentCard["scope"], string>> = {
  project: "Project",
  user: "Yours",
  code: "From the settings",
  builtin: "Built-in",
};

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

/** Where an agent is edited; `search` is what the page keeps on the way there. */
export function agentPath(name: string, search = ""): string {
  const kept = new URLSearchParams(search);
  kept.delete("view");
  kept.delete("below");
  const query = kept.toString();
  return `/agents/${encodePart(name)}${query && `?${query}`}`;
}
