import { TriangleAlert } from "lucide-react";
import type { ApprovalView } from "../../../../src/schema/api/approval.ts";
import { DiffView } from "../text/diff-view.tsx";
import { mixedWords, spellOut, visibleText } from "../text/visible-text.ts";
import { VisibleTextBlock } from "./visible-text-block.tsx";

type Asked = Pick<ApprovalView, "tool" | "input" | "presented" | "diff">;

/** The call exactly as it would be made: the command, the mail, the change or the input, whole and with nothing hidden. */
export function AskedCall({ asked }: { asked: Asked }) {
  const { input, presented, diff } = asked;
  const command = commandOf(input);
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
  return diff.split("\n").map(visibleText).join("\n");
}

/** The command of a call that has one, and everything else that the call says. */
function commandOf(input: unknown): { text: string; rest: string | null } | null {
  if (typeof input !== "object" || input === null || !("command" in input)) return null;
  const { command, ...rest } = input;
  if (typeof command !== "string") return null;
  return { text: command, rest: Object.keys(rest).length > 0 ? JSON.stringify(rest, null, 2) : null };
}
