import { useState } from "react";
import type { Controlled, SessionCard } from "../../../../src/schema/api/session.ts";
import { api } from "../../api/client.ts";
import { renew } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { countOf } from "../../ui/measures.ts";
import { attempt, tell } from "../../ui/toast.tsx";

/** Asks once more before everything in a session is stopped. */
export function StopDialog({ card, onClose }: { card: SessionCard | null; onClose: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const name = card?.title || card?.session_id || "";
  const stop = async () => {
    if (!card) return;
    setBusy(true);
    await attempt(async () => {
      const { done } = await api.post<Controlled>(`/api/sessions/${card.session_id}/cancel`);
      tell(done ? `Stopped: ${name}` : `Nothing was at work in: ${name}`);
      await renew({ queryKey: ["sessions"] });
    });
    setBusy(false);
    onClose();
  };
  return (
    <Dialog open={card !== null} onClose={onClose} title="Stop this session?">
      <p className="text-sm wrap-anywhere text-ink-2">
        <strong className="font-medium text-ink">{name}</strong> and everything it delegated (
        {countOf(card?.runs ?? 0, "run")} so far) will be stopped. What was done stays on record, and you can
        go on in the same session later.
      </p>
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Let it run</Button>
        <Button kind="danger" disabled={isBusy} onClick={() => void stop()}>
          Stop everything
        </Button>
      </div>
    </Dialog>
  );
}
