import type { ApprovalDecision, ApprovalView } from "@retinue/core/schema/api/approval";
import { useMutation } from "@tanstack/react-query";
import { Ban, Check, CheckCheck, CircleCheck } from "lucide-react";
import { type Ref, useState } from "react";
import { ApiFailure, api } from "../data/client.ts";
import { renew } from "../data/queries.ts";
import { useNow } from "../live/signal.ts";
import { Button, KeyHint } from "./controls.tsx";
import { showAge } from "./show-moment.ts";
import { VisibleText } from "./text/visible-text-block.tsx";
import { tell, tellFailure } from "./toast.tsx";

const CHOICES = [
  { answer: "once", name: "Allow once", keys: "y", icon: Check, kind: "primary" },
  { answer: "run", name: "Allow for this run", keys: "a", icon: CheckCheck, kind: "plain" },
  { answer: "deny", name: "Deny", keys: "n", icon: Ban, kind: "danger" },
] as const;

/** The keys that answer a question, the same as in the terminal. */
export const ANSWER_KEYS: readonly { keys: string; answer: AnswerChoice; name: string }[] = CHOICES;

/** The three answers. Until they are ready they keep their place and the focus, and do nothing. */
function AnswerButtons({
  isReady,
  onAnswer,
  small = false,
}: {
  isReady: boolean;
  onAnswer: (answer: AnswerChoice) => void;
  small?: boolean;
}) {
  return (
    <div className="flex flex-wrap gap-1.5">
      {CHOICES.map(({ answer, name, keys, icon: Icon, kind }) => (
        <Button
          key={answer}
          kind={kind}
          small={small}
          aria-disabled={!isReady}
          aria-keyshortcuts={small ? undefined : keys}
          title={
            answer === "run" ? "Also for further calls of this run with exactly these arguments" : undefined
          }
          className={isReady ? undefined : "opacity-60"}
          onClick={() => isReady && onAnswer(answer)}
        >
          <Icon aria-hidden className="size-3.5" /> {name}
          {!small && (
            <span aria-hidden className="max-sm:hidden">
              <KeyHint keys={keys} />
            </span>
          )}
        </Button>
      ))}
    </div>
  );
}

/** The answers, and a note that goes to the agent with a denial. */
export function AnswerForm({
  isReady,
  onAnswer,
  compact = false,
  noteRef,
}: {
  isReady: boolean;
  onAnswer: (answer: AnswerChoice, note: string) => void;
  compact?: boolean;
  noteRef?: Ref<HTMLInputElement>;
}) {
  const [note, setNote] = useState("");
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onAnswer("deny", note);
      }}
    >
      <AnswerButtons isReady={isReady} small={compact} onAnswer={(answer) => onAnswer(answer, note)} />
      <input
        ref={noteRef}
        aria-label="Note for a denial"
        placeholder="Why not? Goes to the agent with a denial"
        maxLength={2_000}
        value={note}
        onChange={(event) => setNote(event.target.value)}
        className={
          compact
            ? "h-6 min-w-40 flex-1 rounded-md border border-line-strong bg-panel px-2 text-xs placeholder:text-ink-3"
            : "h-8 min-w-48 flex-1 rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-ink-3"
        }
      />
    </form>
  );
}

/** What a person can say to a call. */
export type AnswerChoice = "once" | "run" | "deny";

/** The answer as the server takes it. */
function writeDecision(answer: AnswerChoice, note: string): ApprovalDecision {
  if (answer !== "deny") return { allowed: true, scope: answer };
  return { allowed: false, ...(note.trim() !== "" && { note: note.trim() }) };
}

/** Sends answers to one question. `onDone` comes after the server has taken it. */
export function useAnswer(approvalId: string, onDone?: (answer: AnswerChoice) => void) {
  return useMutation({
    mutationFn: ({ answer, note }: { answer: AnswerChoice; note: string }) =>
      api.post(`/api/approvals/${encodeURIComponent(approvalId)}`, writeDecision(answer, note)),
    onSuccess: (_, { answer }) => {
      tell(answer === "deny" ? "Denied." : answer === "run" ? "Allowed for this run." : "Allowed once.");
      onDone?.(answer);
    },
    onError: (failure) => {
      if (failure instanceof ApiFailure && failure.status === 409) tell(failure.message);
      else tellFailure(failure);
    },
    onSettled: () => renew({ queryKey: ["approvals"] }),
  });
}

/** What was said to a call, by whom and when. */
export function GivenAnswer({ answer }: { answer: NonNullable<ApprovalView["answer"]> }) {
  const now = useNow(true);
  const { allowed, by, note, atMs } = answer;
  return (
    <div className="flex items-start gap-2 text-sm">
      {allowed ? (
        <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
      ) : (
        <Ban aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      )}
      <div className="min-w-0">
        <p>
          <strong className={allowed ? "font-semibold text-ok" : "font-semibold text-bad"}>
            {allowed ? "Allowed" : "Denied"}
          </strong>{" "}
          by <VisibleText text={by} />,{" "}
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
