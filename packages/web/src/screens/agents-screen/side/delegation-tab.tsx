import type { DelegationGraph } from "@retinue/core/schema/api/agent";
import { ArrowLeft, ArrowRight, type LucideIcon } from "lucide-react";
import { lazy, Suspense, useMemo } from "react";
import { Link } from "wouter";
import { useSignal } from "../../../live/signal.ts";
import { AgentName } from "../../../ui/face.tsx";
import { Loading } from "../../../ui/states.tsx";
import { agentPath } from "../agent-marks.tsx";
import { CycleList } from "../all-agents-graph.tsx";
import { useAgentDraft } from "../use-agent-draft.tsx";

const GraphView = lazy(() => import("../graph-view.tsx"));

/** Whom it may delegate to, who may delegate to it, and the cycles it is part of. */
export function DelegationTab() {
  const draft = useAgentDraft();
  const review = useSignal(draft.review);
  const name = review?.form?.name ?? draft.name ?? "";
  const near = useMemo(() => review && findNeighbourhood(review.graph, name), [review, name]);
  if (!review || !near) return <Loading rows={3} label="Following the delegations" />;
  const above = near.edges.filter(({ to }) => to === name).map(({ from }) => from);
  return (
    <div className="grid grid-cols-1 gap-4 p-4">
      <CycleList cycles={near.cycles} />
      <Names
        icon={ArrowRight}
        title="May delegate to"
        names={review.delegatesTo}
        none="Nobody: it works alone."
      />
      <Names
        icon={ArrowLeft}
        title="Can be delegated to by"
        names={above}
        none="No agent names it. You can still start it yourself."
      />
      {near.edges.length > 0 && (
        <div className="h-72 overflow-hidden rounded-md border border-line">
          <Suspense fallback={<Loading rows={3} label="Drawing the graph" />}>
            <GraphView graph={near} here={name} />
          </Suspense>
        </div>
      )}
    </div>
  );
}

type NamesProps = { icon: LucideIcon; title: string; names: readonly string[]; none: string };

function Names({ icon: Icon, title, names, none }: NamesProps) {
  return (
    <section aria-label={title} className="grid gap-1.5">
      <h2 className="flex items-center gap-1.5 text-sm font-semibold">
        <Icon aria-hidden className="size-3.5 text-ink-3" /> {title}
      </h2>
      {names.length === 0 && <p className="text-xs text-ink-3">{none}</p>}
      <ul className="flex flex-wrap gap-1.5">
        {names.map((name) => (
          <li key={name} className="max-w-full">
            <Link
              href={agentPath(name)}
              className="inline-flex max-w-full rounded-md border border-line px-1.5 py-1 text-sm hover:bg-hover"
            >
              <AgentName name={name} size="sm" />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** An agent, who may delegate to it, whom it may delegate to, and every cycle it is part of. */
function findNeighbourhood(graph: DelegationGraph, name: string): DelegationGraph {
  const cycles = graph.cycles.filter((cycle) => cycle.includes(name));
  const near = new Set([name, ...cycles.flat()]);
  for (const { from, to } of graph.edges) {
    if (from === name) near.add(to);
    if (to === name) near.add(from);
  }
  const within = new Set(cycles.flat());
  return {
    nodes: graph.nodes.filter((node) => near.has(node.name)),
    edges: graph.edges.filter(
      ({ from, to }) => from === name || to === name || (within.has(from) && within.has(to)),
    ),
    cycles,
  };
}
