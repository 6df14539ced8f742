import { lazy, memo, Suspense } from "react";
import { join } from "../join.ts";

/** Half a megabyte that no first paint waits for. */
const StreamedMarkdown = lazy(() => import("./streamed-markdown.tsx"));

/** Text of agents as Markdown; as it was written until the code for that is there. */
export const Markdown = memo(function Markdown({
  text,
  live = false,
  className,
}: {
  text: string;
  live?: boolean;
  className?: string;
}) {
  return (
    <div className={join("markdown min-w-0 wrap-anywhere", className)}>
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <StreamedMarkdown text={text} live={live} />
      </Suspense>
    </div>
  );
});
