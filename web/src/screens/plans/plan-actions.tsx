import { Pencil, Play, Radio } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { ExecutionPlan } from "../../../../src/schema/plan.ts";
import { api } from "../../api/client.ts";
import { renew } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { attempt } from "../../ui/toast.tsx";
import { keepPlan, planPath } from "./use-plans.ts";

const RUN_WORDS = { draft: "Approve and run", approved: "Run", failed: "Run what is left" } as const;

/** What can be done with a plan as it stands. */
export function PlanActions({ plan, onEdit }: { plan: ExecutionPlan; onEdit: () => void }) {
  const { id, status, executionSessionId } = plan;
  const [isBusy, setBusy] = useState(false);
  const [, go] = useLocation();
  const act = async (does: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    await attempt(does);
    setBusy(false);
  };
  const approve = async () => keepPlan(await api.post<ExecutionPlan>(`${planPath(id)}/approve`));
  const run = async () => {
    if (status === "draft") await approve();
    const { sessionId } = await api.post<{ sessionId: string }>(`${planPath(id)}/run`);
    void renew({ queryKey: ["plans"] });
    go(`/chat/${encodeURIComponent(sessionId)}`);
  };
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {executionSessionId && (
        <Link
          href={`/chat/${encodeURIComponent(executionSessionId)}`}
          className="inline-flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium text-accent hover:bg-hover"
        >
          <Radio aria-hidden className="size-3.5" />
          {status === "running" ? "Watch it" : "Its session"}
        </Link>
      )}
      {status !== "running" && (
        <Button onClick={onEdit}>
          <Pencil aria-hidden className="size-3.5" /> Edit
        </Button>
      )}
      {status === "draft" && (
        <Button aria-disabled={isBusy} onClick={() => void act(approve)}>
          Approve
        </Button>
      )}
      {status !== "running" && status !== "completed" && (
        <Button kind="primary" aria-disabled={isBusy} onClick={() => void act(run)}>
          <Play aria-hidden className="size-3.5" /> {RUN_WORDS[status]}
        </Button>
      )}
    </div>
  );
}
