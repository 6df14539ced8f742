import type { MessageDetail, StepView } from "@retinue/core/schema/api/session";
import type { CallOutcome, TraceApproval } from "@retinue/core/schema/inspect/trace";
import { showCost, showShort } from "@retinue/core/show/measures";
import {
  BookOpen,
  CalendarDays,
  CircleCheck,
  CircleX,
  FilePen,
  FileSearch,
  FileText,
  GitBranch,
  Globe,
  Hand,
  LoaderCircle,
  type LucideIcon,
  Mail,
  MessageSquare,
  MessageSquareText,
  Network,
  Search,
  SquareTerminal,
  Unplug,
  Users,
  Wrench,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { useFetched } from "../data/queries.ts";
import { join } from "./class-names.ts";
import { Chevron } from "./controls.tsx";
import { Markdown } from "./rich-text/markdown.tsx";
import { firstLine, summarizeInput } from "./rich-text/summarize-input.ts";
import { TextBlock } from "./rich-text/visible-text-block.tsx";
import { Failed } from "./states.tsx";
import { Badge, type BadgeLook } from "./status.tsx";

const OUTCOMES: Readonly<Record<CallOutcome, BadgeLook>> = {
  ok: { word: "ok", tone: "text-ok", icon: CircleCheck },
  cached: { word: "from an earlier call", tone: "text-ok", icon: CircleCheck },
  error: { word: "failed", tone: "text-bad", icon: CircleX },
  denied: { word: "denied", tone: "text-bad", icon: Hand },
  running: { word: "under way", tone: "text-run", icon: LoaderCircle, spins: true },
  interrupted: { word: "interrupted", tone: "text-warn", icon: Unplug },
};

type StepLineProps = {
  step: StepView;
  /** What stands at the end of the line. */
  aside: ReactNode;
  approval?: TraceApproval | undefined;
};

/** One model or tool call in a line; opened, it shows everything that went in and came out. */
export function StepLine({ step, aside, approval }: StepLineProps) {
  const [isOpen, setOpen] = useState(false);
  const { kind, tool = "", input = "", turn, purpose, error, text = "" } = step;
  const Icon = kind === "turn" ? MessageSquareText : findToolIcon(tool);
  return (
    <div className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex h-6 w-full min-w-0 items-center gap-2 rounded px-1 text-left text-xs text-ink-2 hover:bg-hover"
      >
        <Icon aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        {kind === "call" ? (
          <code className="shrink-0 font-mono text-2xs font-medium text-ink">{tool}</code>
        ) : (
          <span className="shrink-0 font-medium text-ink">
            {purpose && purpose !== "turn" ? purpose : `Turn ${turn ?? ""}`}
          </span>
        )}
        <Outcome step={step} />
        <span className={join("min-w-0 truncate", kind === "turn" && error && "text-bad")}>
          {kind === "call" ? summarizeInput(tool, input) : firstLine(error ?? text)}
        </span>
        <span className="figures ml-auto shrink-0 text-2xs text-ink-3">{aside}</span>
        <Chevron isOpen={isOpen} className="size-3" />
      </button>
      {isOpen && <StepTexts step={step} approval={approval} />}
    </div>
  );
}

function Outcome({ step: { kind, outcome = "running", status, approvedBy, error } }: { step: StepView }) {
  const turn = status === "failed" ? "error" : status === "running" ? "running" : "ok";
  const ended = kind === "turn" ? turn : outcome;
  if (ended !== "ok" && ended !== "cached")
    return <Badge look={OUTCOMES[ended]} quiet title={error ?? undefined} />;
  const note = [ended === "cached" && OUTCOMES.cached.word, approvedBy && `allowed by ${approvedBy}`]
    .filter(Boolean)
    .join(", ");
  return note ? <span className="shrink-0 text-2xs text-ink-3">{note}</span> : null;
}

/** What went into a turn or call and came out of it; what was cut is loaded whole. */
function StepTexts({ step, approval }: { step: StepView; approval?: TraceApproval | undefined }) {
  const { messageId, closedSeq, isCut, kind, error, approvedBy } = step;
  const query = useFetched<MessageDetail>(["message", messageId, closedSeq], `/api/messages/${messageId}`, {
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
        <p className="text-xs text-ink-3">No text: it went straight to its tool calls.</p>
      )}
      <StepCost step={step} className="figures text-xs text-ink-3" />
      {approvedBy && !approval && <p className="text-xs text-ink-3">Allowed by {approvedBy}.</p>}
      {isCut && query.isPending && <p className="text-xs text-ink-3">Loading the rest…</p>}
      {query.error && <Failed failure={query.error} onRetry={() => void query.refetch()} />}
    </div>
  );
}

/** Tokens and cost of a turn; nothing for what took none. */
export function StepCost({ step: { tokens, costUsd }, className }: { step: StepView; className: string }) {
  const count = tokens ? tokens.input + tokens.output : 0;
  if (count === 0) return null;
  return (
    <span className={className}>
      {showShort(count)} tokens{costUsd ? `, ${showCost(costUsd)}` : ""}
    </span>
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

/** The first that fits the tool's name. */
const ICONS: readonly [pattern: RegExp, icon: LucideIcon][] = [
  [/delegat|subagent|spawn/i, Network],
  [/mail|inbox/i, Mail],
  [/calendar|event/i, CalendarDays],
  [/contact|people/i, Users],
  [/slack|message|chat/i, MessageSquare],
  [/git|commit|branch/i, GitBranch],
  [/shell|bash|exec|command|terminal/i, SquareTerminal],
  [/web|fetch|url|http|browse/i, Globe],
  [/grep|search|find/i, Search],
  [/glob|list|tree|symbol/i, FileSearch],
  [/write|edit|patch|replace|rename|move|delete/i, FilePen],
  [/read|view|open/i, FileText],
  [/report|note|memory|remember/i, BookOpen],
];

/** An icon for a tool, by what its name says. */
export function findToolIcon(tool: string): LucideIcon {
  return ICONS.find(([pattern]) => pattern.test(tool))?.[1] ?? Wrench;
}
