import { Ban, Check, CheckCheck } from "lucide-react";
import { Button } from "../button.tsx";
import { Keys } from "../keys.tsx";
import type { Answer } from "./use-answer.ts";

const CHOICES = [
  { answer: "once", name: "Allow once", keys: "y", icon: Check, kind: "primary" },
  { answer: "run", name: "Allow for this run", keys: "a", icon: CheckCheck, kind: "plain" },
  { answer: "deny", name: "Deny", keys: "n", icon: Ban, kind: "danger" },
] as const;

/** The keys that answer a question, the same as in the terminal. */
export const ANSWER_KEYS: readonly { keys: string; answer: Answer; name: string }[] = CHOICES;

/** The three answers. Until they are ready they keep their place and the focus, and do nothing. */
export function AnswerButtons({
  isReady,
  onAnswer,
  small = false,
}: {
  isReady: boolean;
  onAnswer: (answer: Answer) => void;
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
              <Keys keys={keys} />
            </span>
          )}
        </Button>
      ))}
    </div>
  );
}
