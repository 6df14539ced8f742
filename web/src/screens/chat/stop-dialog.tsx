import { useFace } from "../../api/queries.ts";
import { useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { countOf } from "../../ui/measures.ts";
import { useChatView } from "./chat-view.ts";
import { liveBelow, stopRun } from "./stop-run.ts";

/** Asks before a run takes others with it. */
export function StopDialog() {
  const view = useChatView();
  const store = useSession();
  const runId = useSignal(view.stopping);
  const run = runId === null ? undefined : store.run(runId)?.value;
  const { displayName } = useFace(run?.agent ?? "");
  const close = () => view.stopping.set(null);
  return (
    <Dialog open={runId !== null} onClose={close} title={`Stop ${displayName}?`}>
      {runId !== null && (
        <div className="grid gap-4">
          <p className="text-sm text-ink-2">
            {countOf(liveBelow(runId, store), "run")} below it will stop, too. What they have done so far
            stays on record.
          </p>
          <div className="flex justify-end gap-2">
            <Button onClick={close}>Let it run</Button>
            <Button
              kind="danger"
              onClick={() => {
                close();
                void stopRun(runId);
              }}
            >
              Stop all of it
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
