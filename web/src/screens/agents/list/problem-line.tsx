import { CircleX, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Problem } from "../../../../../src/schema/agent.ts";
import { join } from "../../../ui/join.ts";

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
