import type { MessageDetail, StepView } from "@retinue/core/schema/api/session";
import { showSpacedDuration } from "@retinue/core/show/measures";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight, MessageSquareText } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api } from "../../../data/client.ts";
import { join, REACHABLE } from "../../../ui/class-names.ts";
import { Failed } from "../../../ui/states.tsx";
import { StatusIcon } from "../../../ui/status.tsx";
import { Markdown } from "../../../ui/text/markdown.tsx";
import { firstLine, summarizeInput } from "../../../ui/text/summarize-input.ts";
import { toolIcon } from "./run-activity.tsx";

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
          <span className="figures ml-auto shrink-0 text-2xs text-ink-3">
            {showSpacedDuration(durationMs)}
          </span>
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
      <Words>{summarizeInput(tool, input)}</Words>
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

/** Everything that went into a call and came out of it; what was cut is loaded whole. */
function StepDetail({ step }: { step: StepView }) {
  const { messageId, isCut, closedSeq } = step;
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["message", messageId, closedSeq],
    queryFn: () => api.get<MessageDetail>(`/api/messages/${messageId}`),
    enabled: isCut,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <Failed failure={error} onRetry={refetch} />;
  const row = data?.row ?? {};
  const input = asText(row.request_content) ?? step.input;
  const output = asText(row.response_content) ?? step.output ?? step.text;
  return (
    <div className="grid gap-1.5 py-1 pl-6.5">
      {step.kind === "call" && input && <Block name="Input" text={pretty(input)} />}
      {output && <Block name={step.kind === "call" ? "Output" : "Said"} text={output} />}
      {step.error && step.error !== output && <Block name="Error" text={step.error} />}
      {step.approvedBy && <p className="text-xs text-ink-3">Allowed by {step.approvedBy}.</p>}
      {isCut && isPending && <p className="text-xs text-ink-3">Loading the rest…</p>}
    </div>
  );
}

function Block({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <p className="text-2xs font-medium text-ink-3">{name}</p>
      <figure
        aria-label={name}
        {...REACHABLE}
        className="max-h-64 overflow-auto rounded-md border border-line bg-raised"
      >
        <pre className="px-2.5 py-1.5 font-mono text-xs wrap-anywhere whitespace-pre-wrap">{text}</pre>
      </figure>
    </div>
  );
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function pretty(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}
