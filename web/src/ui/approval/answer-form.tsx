import { type Ref, useState } from "react";
import { AnswerButtons } from "./answer-buttons.tsx";
import type { Answer } from "./use-answer.ts";

/** The answers, and a note that goes to the agent with a denial. */
export function AnswerForm({
  isReady,
  onAnswer,
  compact = false,
  noteRef,
}: {
  isReady: boolean;
  onAnswer: (answer: Answer, note: string) => void;
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
