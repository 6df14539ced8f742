import { CircleX, Info, TriangleAlert } from "lucide-react";
import { Cell } from "../../../ui/grid.tsx";
import { join } from "../../../ui/join.ts";

const LOOKS = {
  info: { icon: Info, tone: "text-ink-3", word: "Note" },
  warning: { icon: TriangleAlert, tone: "text-warn", word: "Warning" },
  error: { icon: CircleX, tone: "text-bad", word: "Problem" },
} as const;

/** Something the session has to say about itself. */
export function NoticeRow({ message, tone }: { message: string; tone: keyof typeof LOOKS }) {
  const { icon: Icon, tone: colour, word } = LOOKS[tone];
  return (
    <Cell
      className={join(
        "mb-1 flex items-start gap-2 rounded-md px-2 py-1 text-xs",
        tone === "error" && "bg-bad-soft",
      )}
    >
      <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", colour)} />
      <p className="min-w-0 wrap-anywhere text-ink-2">
        <strong className={join("font-semibold", colour)}>{word}.</strong> {message}
      </p>
    </Cell>
  );
}
