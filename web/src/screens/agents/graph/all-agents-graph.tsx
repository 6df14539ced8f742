import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, Workflow } from "lucide-react";
import { lazy, Suspense } from "react";
import { Link } from "wouter";
import type { DelegationGraph } from "../../../../../src/schema/api/agent.ts";
import { api } from "../../../api/client.ts";
import { countOf } from "../../../ui/measures.ts";
import { Empty, Failed, Loading } from "../../../ui/states.tsx";
import { CycleList, GraphList } from "./graph-list.tsx";

const GraphView = lazy(() => import("./graph-view.tsx"));

/** Every agent and whom it may delegate to. */
export function AllAgentsGraph({ isOnTop }: { isOnTop: boolean }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["agents", "graph"],
    queryFn: () => api.get<DelegationGraph>("/api/agents-graph"),
  });
  const Title = isOnTop ? "h1" : "h2";
  return (
    <>
      <div className="flex min-h-12 shrink-0 items-center gap-2 border-b border-line bg-panel px-4 py-2">
        <Link
          href="/agents"
          aria-label="All agents"
          className="grid size-7 place-items-center rounded-md text-ink-2 hover:bg-hover lg:hidden"
        >
          <ArrowLeft aria-hidden className="size-4" />
        </Link>
        <Title className="text-base font-semibold">Who may delegate to whom</Title>
        {data && (
          <p className="text-xs text-ink-3">
            {countOf(data.nodes.length, "agent")} · {countOf(data.cycles.length, "cycle")}
          </p>
        )}
      </div>
      {data ? (
        <Drawn graph={data} />
      ) : error ? (
        <Failed failure={error} onRetry={() => void refetch()} />
      ) : (
        <Loading label="Loading the graph" />
      )}
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
