import { useState } from "react";
import type { SaveResult } from "../../../../../src/schema/api/agent.ts";
import { api } from "../../../api/client.ts";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { countOf } from "../../../ui/measures.ts";
import { DiffView } from "../../../ui/text/diff-view.tsx";
import { tell, tellFailure } from "../../../ui/toast.tsx";
import type { Draft } from "../draft/draft.ts";
import { forgetDraft } from "../draft/stored-drafts.ts";
import { useDraft } from "../draft/use-draft.tsx";

/** What saving will change, and the last word on it. */
export function SaveDialog({
  open,
  onClose,
  onSaved,
  onConflict,
}: {
  open: boolean;
  onClose: () => void;
  onSaved: (name: string) => void;
  /** Whether a failure is one that the editor deals with itself. */
  onConflict: (failure: unknown) => boolean;
}) {
  const draft = useDraft();
  const [isBusy, setIsBusy] = useState(false);
  const save = async () => {
    setIsBusy(true);
    try {
      const { text } = draft;
      const sent = text.value;
      const { name, file, hash } = await sendTo(draft, sent);
      if (draft.name === null) forgetDraft(null);
      else draft.markSaved({ text: sent, hash });
      tell(`Saved ${file}`);
      onSaved(name);
    } catch (failure) {
      if (onConflict(failure)) onClose();
      else tellFailure(failure);
    }
    setIsBusy(false);
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={draft.name === null ? "Save the new agent" : "Save changes"}
      wide
    >
      <div className="grid grid-cols-1 gap-3">
        <Summary />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" disabled={isBusy} onClick={() => void save()}>
            {isBusy ? "Saving…" : "Save"}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Summary() {
  const review = useSignal(useDraft().review);
  if (!review) return null;
  const warnings = review.problems.filter(({ severity }) => severity !== "info").length;
  return (
    <>
      {review.diff ? (
        <DiffView patch={review.diff} label="Changes to the file" />
      ) : (
        <p className="text-sm text-ink-2">The text is the same as in the file.</p>
      )}
      {review.kept.length > 0 && (
        <p className="text-sm text-ink-2">
          Kept as they are, though Retinue does not know them:{" "}
          <span className="font-mono text-xs">{review.kept.join(", ")}</span>
        </p>
      )}
      {warnings + review.concerns.length > 0 && (
        <p className="text-sm text-warn">
          {countOf(warnings + review.concerns.length, "remark")} on this text; see the Problems tab.
        </p>
      )}
    </>
  );
}

function sendTo(draft: Draft, text: string): Promise<SaveResult> {
  if (draft.name === null) {
    return api.post("/api/agents", { text, hash: null, ...(draft.scope && { scope: draft.scope }) });
  }
  return api.put(`/api/agents/${encodeURIComponent(draft.name)}`, { text, hash: draft.saved.value.hash });
}
