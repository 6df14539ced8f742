import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Removal } from "../../../../src/schema/api/session.ts";
import { api } from "../../api/client.ts";
import { renew } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { countOf, showBytes } from "../../ui/measures.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { attempt, tell } from "../../ui/toast.tsx";

/** Says what would go, and asks once more before sessions are removed for good. */
export function DeleteDialog({
  sessionIds,
  onClose,
}: {
  /** Null: nothing is asked. */
  sessionIds: readonly string[] | null;
  onClose: (isDone: boolean) => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const plan = useQuery({
    queryKey: ["removal", sessionIds],
    queryFn: () => api.post<Removal>("/api/sessions/removal", { sessionIds, dryRun: true }),
    enabled: sessionIds !== null,
    staleTime: 0,
    gcTime: 0,
  });
  const remove = async () => {
    setBusy(true);
    let isDone = false;
    await attempt(async () => {
      const { sessions } = await api.post<Removal>("/api/sessions/removal", { sessionIds });
      isDone = true;
      tell(`Deleted ${countOf(sessions, "session")}`);
      await renew({ queryKey: ["sessions"] });
      await renew({ queryKey: ["storage"] });
    });
    setBusy(false);
    onClose(isDone);
  };
  const { data } = plan;
  return (
    <Dialog open={sessionIds !== null} onClose={() => onClose(false)} title="Delete for good?">
      {plan.isError ? (
        <Failed failure={plan.error} onRetry={() => void plan.refetch()} />
      ) : !data ? (
        <Loading rows={2} label="Looking at what would go" />
      ) : (
        <div className="grid gap-2 text-sm text-ink-2">
          <p>
            <strong className="font-medium text-ink">
              {countOf(data.sessions, "session")}, about {showBytes(data.bytes)}
            </strong>
            , with everything on record about them and their own files. They can then not be undone, replayed
            or gone on with. Files of the project stay as they are.
          </p>
          {data.kept.length > 0 && (
            <ul className="list-disc pl-5">
              {data.kept.map(({ sessionId, why }) => (
                <li key={sessionId}>
                  {sessionId} stays: {why}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={() => onClose(false)}>Keep</Button>
        <Button kind="danger" disabled={isBusy || !data || data.sessions === 0} onClick={() => void remove()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
