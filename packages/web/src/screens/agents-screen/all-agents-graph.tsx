import type { DelegationGraph } from "@retinue/core/schema/api/agent";
import { showCount } from "@retinue/core/show/measures";
import { ArrowLeft, RefreshCcwDot, Workflow } from "lucide-react";
import { lazy, Suspense } from "react";
import { Link } from "wouter";
import { useFetched } from "../../data/queries.ts";
import { IconLink } from "../../ui/controls.tsx";
import { AgentName } from "../../ui/face.tsx";
import { Empty, Loaded, Loading } from "../../ui/states.tsx";
import { agentPath } from "./agent-marks.tsx";

const GraphView = lazy(() => import("./graph-view.tsx"));

/** Every agent and whom it may delegate to. */
export function AllAgentsGraph({ isOnTop }: { isOnTop: boolean }) {
  const query = useFetched<DelegationGraph>(["agents", "graph"], "/api/agents-graph");
  const { data } = query;
  const Title = isOnTop ? "h1" : "h2";
  return (
    <>
      <div className="flex min-h-12 shrink-0 items-center gap-2 border-b border-line bg-panel px-4 py-2">
        <IconLink href="/agents" aria-label="All agents" className="lg:hidden">
          <ArrowLeft aria-hidden className="size-4" />
        </IconLink>
        <Title className="text-base font-semibold">Who may delegate to whom</Title>
        {data && (
          <p className="text-xs text-ink-3">
            {showCount(data.nodes.length, "agent")} · {showCount(data.cycles.length, "cycle")}
          </p>
        )}
      </div>
      <Loaded query={query} label="Loading the graph">
        {(graph) => <Drawn graph={graph} />}
      </Loaded>
    </>
  );
}

function Drawn({ graph }: { graph: DelegationGraph }) {
  if (graph.nodes.length === 0) return <Empty icon={Workflow} title="No agents yet" />;
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div className="min-h-80 flex-1">
        <Suspense fallback={<Loading label="Drawing the graph" />}>
          <GraphView graph={graph} />
        </Suspense>
      </div>
      <div className="grid shrink-0 gap-2 border-t border-line bg-panel px-4 py-2.5">
        <CycleList cycles={graph.cycles} />
        <details>
          <summary className="w-fit cursor-default rounded text-xs font-medium text-ink-2 hover:text-ink">
            The same as a list
          </summary>
          <div className="max-h-72 overflow-auto pt-2">
            <GraphList graph={graph} />
          </div>
        </details>
      </div>
    </div>
  );
}

/** The same as the graph, in words: for screen readers, and for searching the page. */
function GraphList({ graph }: { graph: DelegationGraph }) {
  const targets = Map.groupBy(graph.edges, ({ from }) => from);
  return (
    <ul className="grid gap-1.5">
      {graph.nodes.map(({ name, isEnabled }) => (
        <li key={name} className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
          <AgentLink name={name} />
          {!isEnabled && <span className="text-xs text-ink-3">not in use</span>}
          <span className="text-xs text-ink-3">{targets.has(name) ? "may delegate to" : "works alone"}</span>
          {targets.get(name)?.map(({ to, isInCycle }) => (
            <span key={to} className="inline-flex items-center gap-1">
              <AgentLink name={to} />
              {isInCycle && (
                <span className="inline-flex items-center gap-0.5 text-2xs font-medium text-bad">
                  <RefreshCcwDot aria-hidden className="size-3" /> cycle
                </span>
              )}
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** Circular delegations, spelled out. */
export function CycleList({ cycles }: { cycles: DelegationGraph["cycles"] }) {
  if (cycles.length === 0) return null;
  return (
    <ul className="grid gap-1">
      {cycles.map((cycle) => (
        <li key={cycle.join()} className="flex items-center gap-1.5 text-xs text-bad">
          <RefreshCcwDot aria-hidden className="size-3.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">Cycle: {[...cycle, cycle[0]].join(" → ")}</span>
        </li>
      ))}
    </ul>
  );
}

function AgentLink({ name }: { name: string }) {
  return (
    <Link href={agentPath(name)} className="inline-flex min-w-0 rounded-md hover:bg-hover">
      <AgentName name={name} size="sm" />
    </Link>
  );
}
