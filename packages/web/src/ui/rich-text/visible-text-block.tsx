import { showCount } from "@retinue/core/show/measures";
import { join, REACHABLE } from "../class-names.ts";
import { splitHidden } from "./visible-text.ts";

/** A text in which nothing can hide: characters that would not be seen stand there as codes. Never cut. */
export function VisibleText({ text }: { text: string }) {
  return splitHidden(text).map((part, index) =>
    part.isHidden ? (
      <span
        // Pieces of one text never move.
        key={index.toString()}
        title="A character that would not be seen"
        className="rounded bg-warn-soft px-0.5 font-mono text-warn"
      >
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}

type VisibleTextBlockProps = { label: string; text: string; mono?: boolean };

/** Such a text as a block as tall as the text, with its size, so that a part is not taken for the whole. */
export function VisibleTextBlock({ label, text, mono = false }: VisibleTextBlockProps) {
  const lines = text.split("\n").length;
  return (
    <figure aria-label={label} className="overflow-hidden rounded-lg border border-line bg-raised">
      <figcaption className="flex items-baseline gap-2 border-b border-line px-3 py-1 text-xs">
        <span className="font-medium text-ink-2">{label}</span>
        <span className="figures ml-auto text-2xs text-ink-3">
          {showCount(lines, "line")}, {showCount(text.length, "character")}
        </span>
      </figcaption>
      <pre
        dir="ltr"
        className={join(
          "px-3 py-2.5 whitespace-pre-wrap wrap-anywhere text-ink [unicode-bidi:isolate]",
          mono ? "font-mono text-xs leading-5" : "font-sans text-sm",
        )}
      >
        <VisibleText text={text} />
      </pre>
    </figure>
  );
}

/** A text as it is, in which nothing can hide; a long one scrolls by itself. */
export function TextBlock({ label, text, tall = false }: { label: string; text: string; tall?: boolean }) {
  return (
    <figure
      aria-label={label}
      {...REACHABLE}
      className={join(
        "overflow-auto rounded-md border border-line bg-raised",
        tall ? "max-h-[60vh]" : "max-h-80",
      )}
    >
      <pre className="p-2.5 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere text-ink">
        <VisibleText text={text} />
      </pre>
    </figure>
  );
}
