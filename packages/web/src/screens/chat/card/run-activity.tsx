import type { LiveText } from "@retinue/core/schema/api/stream";
import { WAITS } from "@retinue/core/show/standing";
import { Hourglass, type LucideIcon, Pause, PenLine } from "lucide-react";
import type { ReactNode } from "react";
import { useSelected, useThrottled } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { findToolIcon } from "../../../ui/step-line.tsx";
import { useStandingNow } from "./use-run.ts";

const QUOTE_MS = 200;

/** What a live run does at this moment: the tool it uses, or what it waits for; `quoted` adds the line it is writing. */
export function RunActivity({ runId, quoted = false }: { runId: string; quoted?: boolean }) {
  const live = useSession().live(runId);
  const standing = useStandingNow(runId);
  const waitingOn = useSelected(live, (now) => now?.waitingOn ?? null);
  const calls = useSelected(live, (now) => now?.calls);
  const isSaying = useSelected(live, (now) => now !== null && now.text !== "");
  const isThinking = useSelected(live, (now) => now !== null && now.reasoning !== "");
  if (standing === "interrupted")
    return <Line icon={Pause}>Interrupted. Resume the session to continue.</Line>;
  if (standing === "paused") return <Line icon={Pause}>Paused</Line>;
  if (standing === "waiting") return <Line icon={Hourglass}>Waiting for you</Line>;
  if (calls === undefined) return <Line icon={PenLine}>Working</Line>;
  const current = calls.findLast(({ tool }) => tool !== "delegate");
  if (current && waitingOn !== "children") {
    const { tool, progress } = current;
    const more = calls.length - 1;
    return (
      <Line icon={findToolIcon(tool)}>
        <code className="font-mono text-2xs text-ink">{tool}</code>
        {progress ? ` ${progress}` : ""}
        {more > 0 ? ` and ${more} more` : ""}
      </Line>
    );
  }
  if (waitingOn)
    return (
      <Line icon={Hourglass}>{waitingOn === "pause" ? "Paused" : `Waiting for ${WAITS[waitingOn]}`}</Line>
    );
  if (isSaying) return <Line icon={PenLine}>{quoted ? <LastWords runId={runId} /> : "Writing"}</Line>;
  return <Line icon={PenLine}>{isThinking ? "Thinking" : "Asking the model"}</Line>;
}

/** The end of the line is what is new, so it is the beginning that is cut off. */
function LastWords({ runId }: { runId: string }) {
  const words = useThrottled(useSession().live(runId), takeLastWords, QUOTE_MS);
  return (
    <span className="flex w-fit max-w-full justify-end overflow-hidden">
      <span className="shrink-0 whitespace-nowrap">{words}</span>
    </span>
  );
}

function Line({ icon: Icon, children }: { icon: LucideIcon; children: ReactNode }) {
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-xs text-ink-2">
      <Icon aria-hidden className="size-3.5 shrink-0 text-ink-3" />
      <span className="min-w-0 truncate">{children}</span>
    </span>
  );
}

/** What a live run has said in the turn under way. */
export function readLiveText(live: LiveText | null): string {
  return live?.text ?? "";
}

/** The end of a long text, from a line's start on. */
export function takeTail(text: string, mostChars: number): string {
  if (text.length <= mostChars) return text;
  const from = text.indexOf("\n", text.length - mostChars);
  return from < 0 || from === text.length - 1 ? text.slice(-mostChars) : text.slice(from + 1);
}

const LINE_CHARS = 160;

/** The last words that were written, in one line and without the marks of Markdown. */
function takeLastWords(live: LiveText | null): string {
  const end = readLiveText(live)
    .slice(-2 * LINE_CHARS)
    .replace(/\*\*|`+|^#+ /gm, "")
    .replace(/\s+/g, " ")
    .trim();
  return end.length <= LINE_CHARS ? end : end.slice(end.indexOf(" ", end.length - LINE_CHARS) + 1);
}
