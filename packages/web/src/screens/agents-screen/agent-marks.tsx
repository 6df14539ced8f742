import type { Problem } from "@retinue/core/schema/agent";
import type { AgentCard, AgentHealth } from "@retinue/core/schema/api/agent";
import { showCount } from "@retinue/core/show/measures";
import { CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { encodePart } from "../../data/client.ts";
import { join } from "../../ui/class-names.ts";
import { Badge, type BadgeLook, SEVERITIES } from "../../ui/status.tsx";

/** How sound an agent file is, as icon, count and word. */
export function HealthMark({ health: { errors, warnings } }: { health: AgentHealth }) {
  const looks: BadgeLook[] = [
    { ...SEVERITIES.error, word: showCount(errors, "error") },
    { ...SEVERITIES.warning, word: showCount(warnings, "warning") },
  ].filter((_, index) => [errors, warnings][index] !== 0);
  return (
    <span className="inline-flex shrink-0 items-center gap-2">
      {(looks.length === 0 ? [SOUND] : looks).map((look) => (
        <Badge key={look.word} look={look} quiet className="h-auto" />
      ))}
    </span>
  );
}

const SOUND: BadgeLook = { icon: CircleCheck, tone: "text-ok", word: "sound" };

/** What is wrong, where, and what to do about it. */
export function ProblemLine({ problem, place }: { problem: Problem; place: ReactNode }) {
  const { icon: Icon, tone, word } = SEVERITIES[problem.severity];
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

/** Where an agent is edited; `search` is what the page keeps on the way there. */
export function agentPath(name: string, search = ""): string {
  const kept = new URLSearchParams(search);
  kept.delete("view");
  kept.delete("below");
  const query = kept.toString();
  return `/agents/${encodePart(name)}${query && `?${query}`}`;
}
