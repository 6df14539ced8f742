import { ArrowLeft, ArrowRight } from "lucide-react";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { Link } from "wouter";
import { useSignal } from "../../../live/signal.ts";
import { AgentName } from "../../../ui/face.tsx";
import { Loading } from "../../../ui/states.tsx";
import { agentPath } from "../agent-path.ts";
import { useDraft } from "../draft/use-draft.tsx";
import { CycleList } from "../graph/graph-list.tsx";
import { neighbourhoodOf } from "../graph/neighbourhood.ts";

const GraphView = lazy(() => import("../graph/graph-view.tsx"));

/** Whom it may delegate to, who may delegate to it, and the cycles it is part of. */
export function DelegationTab() {
  const draft = useDraft();
  const review = useSignal(draft.review);
  const name = review?.form?.name ?? draft.name ?? "";
  const near = useMemo(() => review && neighbourhoodOf(review.graph, name), [review, name]);
  if (!review || !near) return <Loading rows={3} label="Following the delegations" />;
  const above = near.edges.filter(({ to }) => to === name).map(({ from }) => from);
  return (
    <div className="grid grid-cols-1 gap-4 p-4">
      <CycleList cycles={near.cycles} />
      <Names
        icon={<ArrowRight aria-hidden className="size-3.5 text-ink-3" />}
        title="May delegate to"
        names={review.delegatesTo}
        none="Nobody: it works alone."
      />
      <Names
        icon={<ArrowLeft aria-hidden className="size-3.5 text-ink-3" />}
        title="May be asked by"
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

function Names({
  icon,
  title,
  names,
  none,
}: {
  icon: ReactNode;
  title: string;
  names: readonly string[];
  none: string;
}) {
  return (
    <section aria-label={title} className="grid gap-1.5">
      <h2 className="flex items-center gap-1.5 text-sm font-semibold">
        {icon} {title}
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
