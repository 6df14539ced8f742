import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Removal } from "../../../../src/schema/api/session.ts";
import { api } from "../../api/client.ts";
import { renew } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { countOf, showBytes } from "../../ui/measures.ts";
import { REACHABLE } from "../../ui/reachable.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { visibleText } from "../../ui/text/visible-text.ts";
import { attempt, tell } from "../../ui/toast.tsx";

const LIST = "max-h-40 overflow-auto rounded-md border border-line px-3 py-1.5 text-xs leading-5";

/** Says what would go, and asks once more before sessions are removed for good. */
export function DeleteDialog({
  sessionIds,
  onClose,
  finalFocus,
}: {
  /** Null: nothing is asked. */
  sessionIds: readonly string[] | null;
  /** Told which ones are gone now. */
  onClose: (removed: readonly string[]) => void;
  finalFocus: () => HTMLElement | null;
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
    let removed: readonly string[] = [];
    await attempt(async () => {
      const { sessions, going } = await api.post<Removal>("/api/sessions/removal", { sessionIds });
      removed = going.map(({ sessionId }) => sessionId);
      tell(`Deleted ${countOf(sessions, "session")}`);
      await renew({ queryKey: ["sessions"] });
      await renew({ queryKey: ["storage"] });
    });
    setBusy(false);
    onClose(removed);
  };
  const { data } = plan;
  return (
    <Dialog
      open={sessionIds !== null}
      onClose={() => onClose([])}
      title="Delete for good?"
      finalFocus={finalFocus}
    >
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
          {data.going.length > 0 && (
            <section aria-label="What goes" {...REACHABLE} className={LIST}>
              <ul>
                {data.going.map(({ sessionId, title, bytes }) => (
                  <li key={sessionId} className="flex gap-3">
                    <span className="min-w-0 flex-1 truncate text-ink">
                      {visibleText(title) || sessionId}
                    </span>
                    <span className="figures shrink-0 text-ink-3">{showBytes(bytes)}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {data.kept.length > 0 && (
            <section aria-label="What stays" {...REACHABLE} className={LIST}>
              <ul>
                {data.kept.map(({ sessionId, title, why }) => (
                  <li key={sessionId} className="wrap-anywhere">
                    <span className="text-ink">{visibleText(title) || sessionId}</span> stays: {why}
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={() => onClose([])}>Keep</Button>
        <Button kind="danger" disabled={isBusy || !data || data.sessions === 0} onClick={() => void remove()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
