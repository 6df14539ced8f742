import type { MessageDetail, StepView } from "@retinue/core/schema/api/session";
import type { CallOutcome, TraceApproval } from "@retinue/core/schema/inspect/trace";
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX, Hand, LoaderCircle, Unplug } from "lucide-react";
import { api } from "../data/client.ts";
import { Failed } from "./states.tsx";
import type { BadgeLook } from "./status.tsx";
import { Markdown } from "./text/markdown.tsx";
import { TextBlock } from "./text/visible-text-block.tsx";

/** How calls end. */
export const OUTCOMES: Readonly<Record<CallOutcome, BadgeLook>> = {
  ok: { word: "ok", tone: "text-ok", icon: CircleCheck },
  cached: { word: "from an earlier call", tone: "text-ok", icon: CircleCheck },
  error: { word: "failed", tone: "text-bad", icon: CircleX },
  denied: { word: "denied", tone: "text-bad", icon: Hand },
  running: { word: "under way", tone: "text-run", icon: LoaderCircle, spins: true },
  interrupted: { word: "interrupted", tone: "text-warn", icon: Unplug },
};

/** What went into a turn or call and came out of it; what was cut is loaded whole. */
export function StepTexts({ step, approval }: { step: StepView; approval?: TraceApproval | undefined }) {
  const { messageId, closedSeq, isCut, kind, error, approvedBy } = step;
  const query = useQuery({
    queryKey: ["message", messageId, closedSeq],
    queryFn: () => api.get<MessageDetail>(`/api/messages/${messageId}`),
    enabled: isCut,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // What was loaded for the present says more than was known at an earlier moment.
  const row = (isCut && query.data?.row) || {};
  const input = readText(row.request_content) ?? step.input;
  const output = readText(row.response_content) ?? step.output ?? step.text;
  return (
    <div className="grid gap-1.5 py-1 pl-6.5">
      {approval && <ApprovalNote approval={approval} />}
      {error && error !== output && <LabelledText name="Error" text={error} />}
      {kind === "call" && input && <LabelledText name="Input" text={prettyJson(input)} />}
      {kind === "call" && output && <LabelledText name="Output" text={output} />}
      {kind === "turn" && output && <Said text={output} />}
      {kind === "turn" && !output && !error && (
        <p className="text-xs text-ink-3">It said nothing and went on to its calls.</p>
      )}
      {approvedBy && !approval && <p className="text-xs text-ink-3">Allowed by {approvedBy}.</p>}
      {isCut && query.isPending && <p className="text-xs text-ink-3">Loading the rest…</p>}
      {query.error && <Failed failure={query.error} onRetry={() => void query.refetch()} />}
    </div>
  );
}

/** What the model said: JSON as such, everything else as Markdown. */
function Said({ text }: { text: string }) {
  const json = /^\s*[{[]/.test(text) ? prettyJson(text) : text;
  return json === text ? (
    <Markdown text={text} className="text-sm" />
  ) : (
    <TextBlock label="Said" text={json} />
  );
}

function LabelledText({ name, text }: { name: string; text: string }) {
  return (
    <div className="grid gap-1">
      <p className="text-2xs font-medium text-ink-3">{name}</p>
      <TextBlock label={name} text={text} />
    </div>
  );
}

function ApprovalNote({ approval: { allowed, by, note, reason } }: { approval: TraceApproval }) {
  const answer =
    allowed === null
      ? "It waits for an answer"
      : `It was ${allowed ? "allowed" : "denied"}${by ? ` by ${by}` : ""}`;
  return (
    <p className="rounded-md bg-warn-soft px-2.5 py-1.5 text-xs wrap-anywhere text-ink-2">
      <strong className="font-medium text-warn">Asked a person:</strong> {reason || "no reason given"}.{" "}
      {answer}
      {note ? `: ${note}` : ""}.
    </p>
  );
}

/** JSON over several lines; what is none stays as it is. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
