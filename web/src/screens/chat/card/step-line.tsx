import { ChevronRight, MessageSquareText } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { StepView } from "../../../../../src/schema/api/session.ts";
import { join } from "../../../ui/join.ts";
import { showDuration } from "../../../ui/measures.ts";
import { StatusIcon } from "../../../ui/status.tsx";
import { Markdown } from "../../../ui/text/markdown.tsx";
import { firstLine, shortInput } from "../../../ui/text/short-input.ts";
import { StepDetail } from "./step-detail.tsx";
import { toolIcon } from "./tool-icon.ts";

const OUTCOMES: Readonly<Record<string, { standing: string; word: string }>> = {
  ok: { standing: "completed", word: "ok" },
  cached: { standing: "completed", word: "cached" },
  error: { standing: "failed", word: "error" },
  denied: { standing: "cancelled", word: "denied" },
  running: { standing: "running", word: "running" },
  interrupted: { standing: "interrupted", word: "interrupted" },
};

/** One model or tool call in a line; opened, it shows everything that went in and came out. */
export function StepLine({ step }: { step: StepView }) {
  const [isOpen, setOpen] = useState(false);
  const { durationMs } = step;
  return (
    <div className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="group/step flex h-6 w-full min-w-0 items-center gap-2 rounded px-1 text-left text-xs text-ink-2 hover:bg-hover"
      >
        {step.kind === "turn" ? <TurnHead step={step} /> : <CallHead step={step} />}
        {durationMs !== null && (
          <span className="figures ml-auto shrink-0 text-2xs text-ink-3">{showDuration(durationMs)}</span>
        )}
        <ChevronRight
          aria-hidden
          className={join(
            "size-3 shrink-0 text-ink-3 transition-transform duration-100",
            isOpen && "rotate-90",
            durationMs === null && "ml-auto",
          )}
        />
      </button>
      {isOpen &&
        (step.kind === "turn" && !step.isCut ? (
          <Markdown text={step.text ?? step.error ?? ""} className="py-1 pl-6.5 text-sm" />
        ) : (
          <StepDetail step={step} />
        ))}
    </div>
  );
}

function TurnHead({ step: { text, error, turn, purpose } }: { step: StepView }) {
  return (
    <>
      <MessageSquareText aria-hidden className="size-3.5 shrink-0 text-ink-3" />
      <span className="sr-only">
        Turn {turn} {purpose === "turn" ? "" : purpose}
      </span>
      <Words bad={Boolean(error)}>{firstLine(error ?? text ?? "")}</Words>
    </>
  );
}

function CallHead({ step: { tool = "", outcome = "running", input = "", error } }: { step: StepView }) {
  const Icon = toolIcon(tool);
  const { standing, word } = OUTCOMES[outcome] ?? { standing: outcome, word: outcome };
  return (
    <>
      <Icon aria-hidden className="size-3.5 shrink-0 text-ink-3" />
      <code className="shrink-0 font-mono text-2xs font-medium text-ink">{tool}</code>
      <Words>{shortInput(tool, input)}</Words>
      <span className="flex shrink-0 items-center gap-1 text-2xs" title={error ?? undefined}>
        <StatusIcon standing={standing} />
        {word}
      </span>
    </>
  );
}

function Words({ children, bad = false }: { children: ReactNode; bad?: boolean }) {
  return <span className={join("min-w-0 truncate", bad && "text-bad")}>{children}</span>;
}
