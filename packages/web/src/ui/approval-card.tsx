import type { ApprovalDecision, ApprovalView } from "@retinue/core/schema/api/approval";
import { Ban, Biohazard, Check, CheckCheck, CircleCheck, PauseCircle, TriangleAlert } from "lucide-react";
import { type KeyboardEvent, type Ref, useEffect, useRef, useState } from "react";
import { ApiFailure, api, encodePart } from "../data/client.ts";
import { renew, useApprovals } from "../data/queries.ts";
import { isPairBegun, useShortcuts } from "../frame/shortcuts.ts";
import { useNow } from "../live/signal.ts";
import { AgentChain, Countdown, RISKS, RiskBadge } from "./approval-marks.tsx";
import { join } from "./class-names.ts";
import { Button, KeyHint, submitWith, TextLink } from "./controls.tsx";
import { DiffView } from "./rich-text/diff-view.tsx";
import { mixedWords, revealHidden, spellOut } from "./rich-text/visible-text.ts";
import { VisibleText, VisibleTextBlock } from "./rich-text/visible-text-block.tsx";
import { showAge } from "./show-moment.ts";
import { tell, tellFailure } from "./toast.tsx";

type ApprovalCardProps = {
  approval: ApprovalView;
  compact?: boolean;
  /** It is not among those that wait any more. */
  isGone?: boolean;
  onDone?: () => void;
  ref?: Ref<HTMLElement>;
};

/**
 * A call that waits for a person, whole: who asks, exactly what for, and the answers. Where it has the page to itself its keys
 * answer at once; a compact one, which may stand among others, must have the focus. Neither keys nor clicks answer before it
 * has been there for a moment.
 */
export function ApprovalCard({ approval, compact = false, isGone = false, onDone, ref }: ApprovalCardProps) {
  const note = useRef<HTMLInputElement>(null);
  const isArmed = useArmed(`${approval.approvalId} ${useWaitingIds()}`);
  const [isGiven, send] = useAnswer(approval.approvalId, onDone);
  const isOpen = approval.answer === null && !isGone;
  const isReady = isArmed && isOpen && !isGiven;
  const give = (answer: AnswerChoice, words: string) => {
    if (isReady) void send(answer, words);
  };
  useShortcuts(
    compact
      ? []
      : ANSWERS.map(({ keys, answer, name }) => ({
          keys,
          does: `${name}, at a question`,
          isAnswer: true,
          act: () => give(answer, note.current?.value ?? ""),
        })),
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = isPlainKey(event) ? ANSWERS.find(({ keys }) => keys === event.key) : undefined;
    if (!compact || !chosen || !isReady) return;
    event.preventDefault();
    give(chosen.answer, note.current?.value ?? "");
  };
  return (
    <section
      ref={ref}
      tabIndex={-1}
      aria-label={`${revealHidden(approval.chain.at(-1) ?? "An agent")} asks to use ${revealHidden(approval.tool)}`}
      onKeyDown={onKeyDown}
      className={join("grid min-w-0 rounded-lg outline-offset-4", compact ? "gap-2" : "gap-3")}
    >
      <AskedBy approval={approval} />
      <Reason approval={approval} />
      <AskedCall asked={approval} />
      <Targets targets={approval.targets} />
      {approval.answer && <GivenAnswer answer={approval.answer} />}
      {isOpen && (
        <div
          className={
            compact ? "" : "sticky bottom-0 -mx-4 border-t border-line bg-panel/95 px-4 py-3 backdrop-blur"
          }
        >
          <AnswerForm isReady={isReady} compact={compact} noteRef={note} onAnswer={give} />
        </div>
      )}
    </section>
  );
}

/** Where one question comes or goes, others move, and a click may land on one it was not meant for. */
function useWaitingIds(): string {
  return (
    useApprovals()
      .data?.approvals.map(({ approvalId }) => approvalId)
      .join() ?? ""
  );
}

/** A key by itself: not held down, not typed into a field, and not the second of a pair such as `g a`. */
function isPlainKey(event: KeyboardEvent): boolean {
  if (event.repeat || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return false;
  if (event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName))
    return false;
  return !isPairBegun(event.timeStamp);
}

function AskedBy({ approval }: { approval: ApprovalView }) {
  const { chain, tool, session, sessionId, expiresAtMs, answer } = approval;
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
        <AgentChain chain={chain} />
        <span className="text-ink-2">
          asks to use{" "}
          <code className="rounded bg-raised px-1.5 py-0.5 font-mono text-xs text-ink">
            <VisibleText text={tool} />
          </code>
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
        <span className="min-w-0 wrap-anywhere">
          in <TextLink href={`/chat/${encodePart(sessionId)}`}>{session || sessionId}</TextLink>
        </span>
        {answer === null && <Countdown expiresAtMs={expiresAtMs} />}
      </div>
    </div>
  );
}

function Reason({ approval }: { approval: ApprovalView }) {
  const { risk, reason, tainted, isParked, answer } = approval;
  return (
    <ul className="grid gap-1.5 rounded-lg border border-line bg-panel px-3 py-2.5 text-sm">
      <li className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <RiskBadge risk={risk} />
        <span className="text-ink-3">{RISKS[risk].means}</span>
        <span className="min-w-0 basis-full wrap-anywhere">
          <VisibleText text={reason} />
        </span>
      </li>
      {tainted && (
        <li className="flex items-start gap-2 text-ink-2">
          <Biohazard aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
          <span>
            <strong className="font-semibold text-warn">Text from outside has entered this run.</strong> What
            it asks for may be the wish of a page or a mail, not yours.
          </span>
        </li>
      )}
      {isParked && answer === null && (
        <li className="flex items-start gap-2 text-ink-2">
          <PauseCircle aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
          Its session is paused. It continues once all its questions are answered.
        </li>
      )}
    </ul>
  );
}

function Targets({ targets }: { targets: readonly string[] }) {
  if (targets.length === 0) return null;
  return (
    <div className="text-xs">
      <p className="mb-1 text-ink-3">It would touch</p>
      <ul className="flex flex-wrap gap-1">
        {[...new Set(targets)].map((target) => (
          <li
            key={target}
            className="max-w-full rounded border border-line bg-raised px-1.5 py-0.5 font-mono text-2xs whitespace-pre-wrap wrap-anywhere text-ink-2"
          >
            <VisibleText text={target} />
          </li>
        ))}
      </ul>
    </div>
  );
}

type Asked = Pick<ApprovalView, "tool" | "input" | "presented" | "diff">;

/** The call exactly as it would be made: the command, the mail, the change or the input, whole and with nothing hidden. */
function AskedCall({ asked }: { asked: Asked }) {
  const { input, presented, diff } = asked;
  const command = readAskedCommand(input);
  const json = JSON.stringify(input, null, 2) ?? "nothing";
  const isJsonAll = diff === null && presented === null && command === null;
  return (
    <div className="grid min-w-0 gap-2">
      <Lookalikes text={`${presented ?? ""} ${json}`} />
      {presented !== null && <VisibleTextBlock label="What it would do" text={presented} />}
      {command !== null && <VisibleTextBlock mono label="Command" text={command.text} />}
      {command?.rest && <VisibleTextBlock mono label="With" text={command.rest} />}
      {diff !== null && (
        <DiffView patch={visibleLines(diff)} label="What it would change" most={Number.POSITIVE_INFINITY} />
      )}
      {isJsonAll ? (
        <VisibleTextBlock mono label="Input" text={json} />
      ) : (
        <details className="group text-xs">
          <summary className="cursor-pointer rounded py-0.5 text-ink-2 hover:text-ink">
            The call as the model gave it
          </summary>
          <div className="pt-1.5">
            <VisibleTextBlock mono label="Input" text={json} />
          </div>
        </details>
      )}
    </div>
  );
}

function Lookalikes({ text }: { text: string }) {
  const words = mixedWords(text);
  if (words.length === 0) return null;
  return (
    <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-xs text-ink-2">
      <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warn" />
      <span className="wrap-anywhere">
        <strong className="font-semibold text-warn">Letters of two alphabets in one word: </strong>
        {words.slice(0, 8).map(spellOut).join(", ")}
        {words.length > 8 && ` and ${words.length - 8} more`}. Look closely: it may not be the name it seems.
      </span>
    </p>
  );
}

/** Line by line, so that a change of line ends alone is seen, too. */
function visibleLines(diff: string): string {
  return diff.split("\n").map(revealHidden).join("\n");
}

/** The command of a call that has one, and everything else that the call says. */
export function readAskedCommand(input: unknown): { text: string; rest: string | null } | null {
  if (typeof input !== "object" || input === null || !("command" in input)) return null;
  const { command, ...rest } = input;
  if (typeof command !== "string") return null;
  return { text: command, rest: Object.keys(rest).length > 0 ? JSON.stringify(rest, null, 2) : null };
}

/** So long after it appeared nothing that was typed or clicked before can be meant for it. */
const ARMING_MS = 600;

/** Whether a question has been on the page for long enough to be answered; another `id` begins anew. */
function useArmed(id: string): boolean {
  const [armed, setArmed] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(id), ARMING_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return armed === id;
}

/** What a person can say to a call, and the keys that say it, the same as in the terminal. */
const ANSWERS = [
  { answer: "once", name: "Allow once", keys: "y", icon: Check, kind: "primary" },
  { answer: "run", name: "Allow for this run", keys: "a", icon: CheckCheck, kind: "plain" },
  { answer: "deny", name: "Deny", keys: "n", icon: Ban, kind: "danger" },
] as const;

type AnswerChoice = (typeof ANSWERS)[number]["answer"];

type AnswerFormProps = {
  isReady: boolean;
  onAnswer: (answer: AnswerChoice, note: string) => void;
  compact: boolean;
  noteRef: Ref<HTMLInputElement>;
};

/**
 * The three answers, and a note that goes to the agent with a denial. Until they are ready the answers keep their place and the
 * focus, and do nothing.
 */
function AnswerForm({ isReady, onAnswer, compact, noteRef }: AnswerFormProps) {
  const [note, setNote] = useState("");
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={submitWith(() => isReady && onAnswer("deny", note))}
    >
      <div className="flex flex-wrap gap-1.5">
        {ANSWERS.map(({ answer, name, keys, icon: Icon, kind }) => (
          <Button
            key={answer}
            kind={kind}
            small={compact}
            aria-disabled={!isReady}
            aria-keyshortcuts={compact ? undefined : keys}
            title={
              answer === "run" ? "Also for further calls of this run with exactly these arguments" : undefined
            }
            className={isReady ? undefined : "opacity-60"}
            onClick={() => isReady && onAnswer(answer, note)}
          >
            <Icon aria-hidden className="size-3.5" /> {name}
            {!compact && (
              <span aria-hidden className="max-sm:hidden">
                <KeyHint keys={keys} />
              </span>
            )}
          </Button>
        ))}
      </div>
      <input
        ref={noteRef}
        aria-label="Note for a denial"
        placeholder="Why not? Goes to the agent with a denial"
        maxLength={2_000}
        value={note}
        onChange={(event) => setNote(event.target.value)}
        className={join(
          "flex-1 rounded-md border border-line-strong bg-panel placeholder:text-ink-3",
          compact ? "h-6 min-w-40 px-2 text-xs" : "h-8 min-w-48 px-2.5 text-sm",
        )}
      />
    </form>
  );
}

function writeDecision(answer: AnswerChoice, note: string): ApprovalDecision {
  if (answer !== "deny") return { allowed: true, scope: answer };
  return { allowed: false, ...(note.trim() !== "" && { note: note.trim() }) };
}

/** Sends one answer to a question, or another one if that failed. `onDone` comes after the server has taken it. */
function useAnswer(approvalId: string, onDone?: () => void) {
  const [isGiven, setGiven] = useState(false);
  // Two keys may come before the page is drawn again.
  const isSent = useRef(false);
  const send = async (answer: AnswerChoice, note: string) => {
    if (isSent.current) return;
    isSent.current = true;
    setGiven(true);
    try {
      await api.post(`/api/approvals/${encodePart(approvalId)}`, writeDecision(answer, note));
      tell(answer === "deny" ? "Denied." : answer === "run" ? "Allowed for this run." : "Allowed once.");
      onDone?.();
      await renew({ queryKey: ["approvals"] });
    } catch (failure) {
      if (failure instanceof ApiFailure && failure.status === 409) tell(failure.message);
      else tellFailure(failure);
      await renew({ queryKey: ["approvals"] });
      isSent.current = false;
      setGiven(false);
    }
  };
  return [isGiven, send] as const;
}

/** What was said to a call, by whom and when. */
function GivenAnswer({ answer }: { answer: NonNullable<ApprovalView["answer"]> }) {
  const now = useNow(true);
  const { allowed, by, note, atMs } = answer;
  const [Icon, tone] = allowed ? [CircleCheck, "text-ok"] : [Ban, "text-bad"];
  return (
    <div className="flex items-start gap-2 text-sm">
      <Icon aria-hidden className={join("mt-0.5 size-4 shrink-0", tone)} />
      <div className="min-w-0">
        <p>
          <strong className={join("font-semibold", tone)}>{allowed ? "Allowed" : "Denied"}</strong> by{" "}
          <VisibleText text={by} />,{" "}
          <time dateTime={new Date(atMs).toISOString()} className="text-ink-2">
            {showAge(atMs, now)}
          </time>
        </p>
        {note && (
          <p className="mt-0.5 whitespace-pre-wrap wrap-anywhere text-ink-2">
            <VisibleText text={note} />
          </p>
        )}
      </div>
    </div>
  );
}
