import { ChevronRight, ShieldAlert } from "lucide-react";
import { useFace } from "../../../api/queries.ts";
import { useSelected } from "../../../live/use-selected.ts";
import { AgentMark } from "../../../ui/face.tsx";
import { Cell } from "../../../ui/grid.tsx";
import { join } from "../../../ui/join.ts";
import { StatusBadge } from "../../../ui/status.tsx";
import { useChatView } from "../chat-view.ts";
import type { Row } from "../rows/row.ts";
import { RunActions } from "./run-actions.tsx";
import { RunActivity } from "./run-activity.tsx";
import { RunFigures } from "./run-figures.tsx";
import { SteerBox } from "./steer-box.tsx";
import { StepsToggle } from "./steps-toggle.tsx";
import { useRun } from "./use-run.ts";
import { useStanding } from "./use-standing.ts";

/** The line of a run: who it is, how it stands, what it has used, and what can be done with it. */
export function RunRow({ row }: { row: Extract<Row, { kind: "run" }> }) {
  const { runId, level, isOpen, hasBody } = row;
  const view = useChatView();
  const run = useRun(runId);
  const { displayName } = useFace(run.agent);
  const standing = useStanding(runId);
  const isSteering = useSelected(view.steering, (steered) => steered === runId);
  const isRoot = level === 1;
  const isLive = run.endedAtMs === null;
  return (
    <div className={join(!(hasBody && !isRoot) && "pb-1.5")}>
      <div
        className={join(
          "grid grid-cols-1 gap-y-0.5 px-1.5 py-1",
          !isRoot && "border border-line bg-panel shadow-[0_1px_0_oklch(0_0_0/0.02)]",
          !isRoot && (hasBody ? "rounded-t-lg border-b-transparent" : "rounded-lg"),
        )}
      >
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5">
          <Cell className="flex min-w-0 flex-1 basis-56 items-center gap-2 max-sm:basis-32">
            <Toggle isOpen={isOpen} name={displayName} onToggle={() => view.open(row.key, !isOpen)} />
            <AgentMark name={run.agent} size="sm" />
            <span className="shrink-0 text-sm font-semibold">{displayName}</span>
            <Badges level={level} attempt={run.attempt} tainted={run.tainted} />
            {run.model && (
              <span className="min-w-0 shrink truncate text-2xs text-ink-3 max-sm:hidden">{run.model}</span>
            )}
            {!isRoot && (
              <span className="min-w-0 flex-1 truncate text-xs text-ink-2" title={run.task}>
                {run.task}
              </span>
            )}
          </Cell>
          <Cell className="flex items-center gap-2.5 max-sm:order-last max-sm:basis-full max-sm:pl-6.5">
            <StatusBadge standing={standing} />
            <RunFigures runId={runId} />
          </Cell>
          <Cell>
            <RunActions runId={runId} name={displayName} />
          </Cell>
        </div>
        {isLive && !isRoot && (
          <Cell className="flex items-center gap-3 pr-1 pb-0.5 pl-7">
            <div className="min-w-0 flex-1">
              <RunActivity runId={runId} quoted={!isOpen} />
            </div>
            {isOpen && <StepsToggle runId={runId} />}
          </Cell>
        )}
        {isSteering && (
          <Cell className="pb-1 pl-7">
            <SteerBox runId={runId} name={displayName} isLive={isLive} />
          </Cell>
        )}
      </div>
    </div>
  );
}

function Toggle({ isOpen, name, onToggle }: { isOpen: boolean; name: string; onToggle: () => void }) {
  return (
    <button
      type="button"
      aria-label={`${isOpen ? "Collapse" : "Expand"} ${name}`}
      aria-expanded={isOpen}
      onClick={onToggle}
      className="-mr-1 inline-grid size-5 shrink-0 place-items-center rounded text-ink-3 hover:bg-hover hover:text-ink"
    >
      <ChevronRight
        aria-hidden
        className={join("size-3.5 transition-transform duration-100", isOpen && "rotate-90")}
      />
    </button>
  );
}

/** What is out of the ordinary: a retry, text from outside, and a depth that a phone has no room to draw. */
function Badges({ level, attempt, tainted }: { level: number; attempt: number; tainted: boolean }) {
  return (
    <>
      {level > 4 && (
        <span
          className={join(
            "figures shrink-0 rounded bg-raised px-1 text-2xs text-ink-2",
            level <= 13 && "sm:hidden",
          )}
        >
          depth {level - 1}
        </span>
      )}
      {attempt > 0 && (
        <span className="figures shrink-0 rounded bg-warn-soft px-1 text-2xs text-warn">retry {attempt}</span>
      )}
      {tainted && (
        <span
          role="img"
          aria-label="Text from outside has entered this run"
          title="Text from outside has entered this run"
          className="shrink-0 text-ink-3"
        >
          <ShieldAlert aria-hidden className="size-3" />
        </span>
      )}
    </>
  );
}
