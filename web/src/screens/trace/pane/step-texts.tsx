import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { MessageDetail, StepView } from "../../../../../src/schema/api/session.ts";
import type { TraceApproval } from "../../../../../src/schema/inspect/trace.ts";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Failed } from "../../../ui/states.tsx";
import { Markdown } from "../../../ui/text/markdown.tsx";
import { pretty } from "./result-tab.tsx";
import { TextBlock } from "./section.tsx";

/** What went into a turn or call and came out; cut texts are loaded whole when they are asked for. */
export function StepTexts({ step, approval }: { step: StepView; approval: TraceApproval | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const { data, isError, error, isFetching } = useQuery({
    queryKey: ["message", step.messageId, step.closedSeq],
    queryFn: () => api.get<MessageDetail>(`/api/messages/${step.messageId}`),
    enabled: isWhole,
  });
  const input = textIn(data?.row.request_content) ?? step.input;
  const output = textIn(data?.row.response_content) ?? step.output;
  const said = textIn(data?.row.response_content) ?? step.text;
  return (
    <div className="grid gap-2 pt-1 pr-2 pb-2 pl-7.5">
      {approval && <ApprovalNote approval={approval} />}
      {step.error && <TextBlock label="Error" text={step.error} />}
      {step.kind === "turn" && said && <Said text={said} />}
      {step.kind === "turn" && !said && !step.error && (
        <p className="text-xs text-ink-3">It said nothing and went on to its calls.</p>
      )}
      {step.kind === "call" && input !== undefined && <Labelled name="Input" text={asJson(input)} />}
      {step.kind === "call" && output && <Labelled name="Output" text={output} />}
      {isError && <Failed failure={error} />}
      {step.isCut && !data && (
        <div>
          <Button small disabled={isFetching} onClick={() => setWhole(true)}>
            {isFetching ? "Loading…" : "Show the whole text"}
          </Button>
        </div>
      )}
    </div>
  );
}

/** What the model said: JSON as such, everything else as Markdown. */
function Said({ text }: { text: string }) {
  if (/^\s*[{[]/.test(text) && asJson(text) !== text) return <TextBlock label="Said" text={asJson(text)} />;
  return <Markdown text={text} className="text-sm" />;
}

function Labelled({ name, text }: { name: string; text: string }) {
  return (
    <div className="grid gap-1">
      <p className="text-2xs font-medium text-ink-3">{name}</p>
      <TextBlock label={name} text={text} />
    </div>
  );
}

function ApprovalNote({ approval: { allowed, by, note, reason } }: { approval: TraceApproval }) {
  const answer =
    allowed === null ? "waits for an answer" : `${allowed ? "allowed" : "denied"}${by ? ` by ${by}` : ""}`;
  return (
    <p className="rounded-md bg-warn-soft px-2.5 py-1.5 text-xs wrap-anywhere text-ink-2">
      <strong className="font-medium text-warn">Asked a person:</strong> {reason || "no reason given"}. It{" "}
      {allowed === null ? "" : "was "}
      {answer}
      {note ? `: ${note}` : ""}.
    </p>
  );
}

/** JSON is shown over several lines, everything else as it is. */
function asJson(text: string): string {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
