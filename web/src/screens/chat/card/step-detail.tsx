import { useQuery } from "@tanstack/react-query";
import type { MessageDetail, StepView } from "../../../../../src/schema/api/session.ts";
import { api } from "../../../api/client.ts";
import { REACHABLE } from "../../../ui/reachable.ts";
import { Failed } from "../../../ui/states.tsx";

/** Everything that went into a call and came out of it; what was cut is loaded whole. */
export function StepDetail({ step }: { step: StepView }) {
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
