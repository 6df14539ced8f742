import { OctagonX } from "lucide-react";
import { useState } from "react";
import { useSelected } from "../../live/use-selected.ts";
import { useSession } from "../../live/use-session.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { countOf } from "../../ui/measures.ts";

/** Ends the whole session; where several runs are at work, the person is asked first. */
export function StopAll({ onStop }: { onStop: () => void }) {
  const store = useSession();
  const live = useSelected(store.totals, (totals) => totals.live);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button kind="danger" title="Stop all" onClick={() => (live > 1 ? setAsking(true) : onStop())}>
        <OctagonX aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">Stop all</span>
      </Button>
      <Dialog open={isAsking} onClose={() => setAsking(false)} title="Stop the whole session?">
        <div className="grid gap-4">
          <p className="text-sm text-ink-2">
            {countOf(live, "run")} will stop, for good. What they have done so far stays on record.
          </p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsking(false)}>Let them run</Button>
            <Button
              kind="danger"
              onClick={() => {
                setAsking(false);
                onStop();
              }}
            >
              Stop everything
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
