import { type ComponentType, memo, useEffect } from "react";
import { useNews } from "../../data/news.ts";
import { Signal, useSignal } from "../../live/signal.ts";
import { join } from "../class-names.ts";

/** Half a megabyte that no first paint waits for; null until it is there. */
const code = new Signal<ComponentType<{ text: string; live: boolean }> | null>(null);
let isAsked = false;

/** Loads it once. Texts can be read without it, so that nothing fails if it does not come. */
function loadCode(): void {
  if (isAsked) return;
  isAsked = true;
  import("./streamed-markdown.tsx").then(
    (loaded) => code.set(loaded.default),
    () => {
      isAsked = false;
    },
  );
}

type MarkdownProps = { text: string; live?: boolean; className?: string };

/** Text of agents as Markdown; as it was written until the code for that is there. */
export const Markdown = memo(function Markdown({ text, live = false, className }: MarkdownProps) {
  const Streamed = useSignal(code);
  return (
    <div className={join("markdown min-w-0 wrap-anywhere", className)}>
      {Streamed ? <Streamed text={text} live={live} /> : <AsWritten text={text} />}
    </div>
  );
});

/** Tries again when the server is back. */
function AsWritten({ text }: { text: string }) {
  const { connection } = useNews();
  const isAway = connection === "lost";
  useEffect(() => {
    if (!isAway) loadCode();
  }, [isAway]);
  return <p className="whitespace-pre-wrap">{text}</p>;
}
