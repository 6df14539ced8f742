import { Hourglass, Pause, PenLine } from "lucide-react";
import { createElement } from "react";
import type { WaitingOn } from "../../../../../src/schema/event.ts";
import { useSelected } from "../../../live/use-selected.ts";
import { useSession } from "../../../live/use-session.tsx";
import { useThrottled } from "../../../live/use-throttled.ts";
import { lastWordsOf } from "./live-text.ts";
import { toolIcon } from "./tool-icon.ts";
import { useStanding } from "./use-standing.ts";

const QUOTE_MS = 200;
const WAITS: Readonly<Record<WaitingOn, string>> = {
  children: "Waiting for its sub-agents",
  approval: "Waiting for you",
  budget: "Waiting for budget",
  slot: "Waiting for a free slot",
  provider: "Waiting for the model's provider",
  pause: "Paused",
  store: "Waiting for the record to be written",
};

/** What a live run does at this moment: the tool it uses, or what it waits for; `quoted` adds the line it is writing. */
export function RunActivity({ runId, quoted = false }: { runId: string; quoted?: boolean }) {
  const live = useSession().live(runId);
  const standing = useStanding(runId);
  const waitingOn = useSelected(live, (now) => now?.waitingOn ?? null);
  const calls = useSelected(live, (now) => now?.calls);
  const isSaying = useSelected(live, (now) => now !== null && now.text !== "");
  const isThinking = useSelected(live, (now) => now !== null && now.reasoning !== "");
  if (standing === "interrupted")
    return <Line icon={Pause} words="Interrupted. Resume the session to go on." />;
  if (standing === "paused") return <Line icon={Pause} words="Paused" />;
  if (standing === "waiting") return <Line icon={Hourglass} words={WAITS.approval} />;
  if (calls === undefined) return <Line icon={PenLine} words="Working" />;
  const current = calls.findLast(({ tool }) => tool !== "delegate");
  if (current && waitingOn !== "children") {
    const { tool, progress } = current;
    const more = calls.length - 1;
    return (
      <Line
        icon={toolIcon(tool)}
        words={
          <>
            <code className="font-mono text-2xs text-ink">{tool}</code>
            {progress ? ` ${progress}` : ""}
            {more > 0 ? ` and ${more} more` : ""}
          </>
        }
      />
    );
  }
  if (waitingOn) return <Line icon={Hourglass} words={WAITS[waitingOn] ?? waitingOn} />;
  if (isSaying) return <Line icon={PenLine} words={quoted ? <LastWords runId={runId} /> : "Writing"} />;
  return <Line icon={PenLine} words={isThinking ? "Thinking" : "Asking the model"} />;
}

/** The end of the line is what is new, so it is the beginning that is cut off. */
function LastWords({ runId }: { runId: string }) {
  const words = useThrottled(useSession().live(runId), lastWordsOf, QUOTE_MS);
  return (
    <span className="flex w-fit max-w-full justify-end overflow-hidden">
      <span className="shrink-0 whitespace-nowrap">{words}</span>
    </span>
  );
}

function Line({ icon, words }: { icon: ReturnType<typeof toolIcon>; words: React.ReactNode }) {
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-xs text-ink-2">
      {createElement(icon, { "aria-hidden": true, className: "size-3.5 shrink-0 text-ink-3" })}
      <span className="min-w-0 truncate">{words}</span>
    </span>
  );
}
