import type { PlanStep, StepResult } from "@retinue/core/schema/plan";
import { useLayoutEffect, useRef, useState } from "react";
import { join } from "../../ui/class-names.ts";
import { AgentName } from "../../ui/face.tsx";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { StatusIcon } from "../../ui/status.tsx";
import { assignColumns, directNeeds, sortIntoWaves } from "./plan-waves.ts";
import { nameStepStatus } from "./step-details.tsx";

/** More than these do not fit side by side, and wrap. */
const MOST_BESIDE = 4;

type Edge = { from: string; to: string; path: string };

type WaveDrawingProps = { steps: readonly PlanStep[]; results: ReadonlyMap<string, StepResult> };

/** The plan at a glance: steps that can run at once side by side, and lines from what they wait for. On a phone the list says it. */
export function WaveDrawing({ steps, results }: WaveDrawingProps) {
  const place = useRef<HTMLDivElement>(null);
  const edges = useEdges(place, steps);
  const [near, setNear] = useState<string | null>(null);
  const numbers = new Map(steps.map(({ id }, index) => [id, index + 1]));
  const waves = sortIntoWaves(steps);
  const columns = assignColumns(waves);
  const width = Math.max(...waves.map((wave) => wave.length));
  return (
    <nav aria-label="Steps of the plan" className="rounded-lg border border-line bg-ground p-4 max-sm:hidden">
      <div ref={place} className="relative mx-auto" style={{ maxWidth: `${width * 15}rem` }}>
        <Lines edges={edges} near={near} />
        <ol className="relative grid gap-8">
          {waves.map((wave) => (
            <li
              key={wave[0]?.id}
              className={join(
                "gap-x-3",
                width <= MOST_BESIDE ? "grid" : "flex flex-wrap justify-center gap-y-3",
              )}
              style={{ gridTemplateColumns: `repeat(${width * 2}, minmax(0, 1fr))` }}
            >
              {wave
                .toSorted((one, other) => (columns.get(one.id) ?? 0) - (columns.get(other.id) ?? 0))
                .map((step) => (
                  <a
                    key={step.id}
                    href={`#step-${step.id}`}
                    data-step={step.id}
                    onMouseEnter={() => setNear(step.id)}
                    onMouseLeave={() => setNear(null)}
                    onFocus={() => setNear(step.id)}
                    onBlur={() => setNear(null)}
                    onClick={(event) => {
                      event.preventDefault();
                      document.getElementById(`step-${step.id}`)?.focus();
                    }}
                    style={{ gridColumn: `${(columns.get(step.id) ?? 0) + 1} / span 2`, gridRow: 1 }}
                    className={join(
                      "grid content-start gap-1 rounded-lg border bg-panel px-3 py-2 hover:border-accent",
                      width > MOST_BESIDE && "w-52",
                      near === step.id ? "border-accent" : "border-line-strong",
                    )}
                  >
                    <StepGist step={step} numbers={numbers} result={results.get(step.id)} />
                  </a>
                ))}
            </li>
          ))}
        </ol>
      </div>
    </nav>
  );
}

function Lines({ edges, near }: { edges: readonly Edge[]; near: string | null }) {
  return (
    <svg aria-hidden="true" className="absolute inset-0 size-full overflow-visible">
      {edges.map(({ from, to, path }) => (
        <path
          key={`${from} ${to}`}
          d={path}
          fill="none"
          strokeWidth={1.5}
          className={near === from || near === to ? "stroke-accent" : "stroke-line-strong"}
        />
      ))}
    </svg>
  );
}

type StepGistProps = { step: PlanStep; numbers: ReadonlyMap<string, number>; result: StepResult | undefined };

function StepGist({ step, numbers, result }: StepGistProps) {
  const needs = step.dependsOn.flatMap((id) => numbers.get(id) ?? []).toSorted((a, b) => a - b);
  return (
    <>
      <span className="flex items-center gap-1.5">
        <span className="min-w-0 truncate text-xs text-ink-2">
          <AgentName name={step.role} size="sm" />
        </span>
        <span className="ml-auto flex items-center gap-1">
          {result && <StatusIcon standing={nameStepStatus(result)} labelled />}
          <span className="figures text-2xs text-ink-3">{numbers.get(step.id)}</span>
        </span>
      </span>
      <span className="line-clamp-2 text-sm font-medium wrap-anywhere">{revealHidden(step.title)}</span>
      <span className="figures text-2xs text-ink-3">
        {needs.length > 0 ? `after ${needs.join(", ")}` : "starts right away"}
      </span>
    </>
  );
}

/** Lines between the cards, measured where these stand; anew when the place changes its size. */
function useEdges(
  place: React.RefObject<HTMLDivElement | null>,
  steps: readonly PlanStep[],
): readonly Edge[] {
  const [edges, setEdges] = useState<readonly Edge[]>([]);
  useLayoutEffect(() => {
    const root = place.current;
    if (!root) return;
    const measure = () => setEdges(edgesIn(root, steps));
    const observer = new ResizeObserver(measure);
    observer.observe(root);
    return () => observer.disconnect();
  }, [place, steps]);
  return edges;
}

function edgesIn(root: HTMLElement, steps: readonly PlanStep[]): Edge[] {
  const origin = root.getBoundingClientRect();
  const boxes = new Map(
    [...root.querySelectorAll<HTMLElement>("[data-step]")].map((card) => [
      card.dataset.step ?? "",
      card.getBoundingClientRect(),
    ]),
  );
  return [...directNeeds(steps)].flatMap(([id, needs]) =>
    needs.flatMap((needed) => {
      const from = boxes.get(needed);
      const to = boxes.get(id);
      if (!from || !to) return [];
      const [x1, y1] = [from.x + from.width / 2 - origin.x, from.bottom - origin.y];
      const [x2, y2] = [to.x + to.width / 2 - origin.x, to.y - origin.y];
      const middle = (y1 + y2) / 2;
      return [{ from: needed, to: id, path: `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` }];
    }),
  );
}
