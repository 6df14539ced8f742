import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";
import type { AgentHealth } from "../../../../../src/schema/api/agent.ts";
import { countOf } from "../../../ui/measures.ts";

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
          <CircleX aria-hidden className="size-3" /> {countOf(errors, "error")}
        </span>
      )}
      {warnings > 0 && (
        <span className="inline-flex items-center gap-1 text-warn">
          <TriangleAlert aria-hidden className="size-3" /> {countOf(warnings, "warning")}
        </span>
      )}
    </span>
  );
}
