import type { SaveResult } from "@retinue/core/schema/api/agent";
import { showCount } from "@retinue/core/show/measures";
import { Save } from "lucide-react";
import { useId } from "react";
import { ApiFailure, api, encodePart } from "../../../data/client.ts";
import { renew } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { join } from "../../../ui/class-names.ts";
import { Button, MOD, Tooltip } from "../../../ui/controls.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { DiffView } from "../../../ui/rich-text/diff-view.tsx";
import { tell, useAttempt } from "../../../ui/toast.tsx";
import { type EditedAgent, forgetDraft } from "../agent-draft.ts";
import { useAgentDraft, useIsDirty } from "../use-agent-draft.tsx";

type SaveDialogProps = { open: boolean; onClose: () => void; onSaved: (name: string) => void };

/** What saving will change, and the last word on it. */
export function SaveDialog({ open, onClose, onSaved }: SaveDialogProps) {
  const draft = useAgentDraft();
  const [isBusy, attempt] = useAttempt();
  const save = async () => {
    try {
      const { text } = draft;
      const sent = text.value;
      const { name, file, hash } = await sendTo(draft, sent);
      if (draft.name === null) forgetDraft(null);
      else draft.markSaved({ text: sent, hash });
      tell(`Saved ${file}`);
      onSaved(name);
    } catch (failure) {
      const isConflict = failure instanceof ApiFailure && failure.status === 409 && draft.name !== null;
      if (!isConflict) throw failure;
      // Once the file is read again, the draft notices that it has changed since it began.
      void renew({ queryKey: ["agents"] });
      onClose();
    }
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
          <Button kind="primary" disabled={isBusy} onClick={() => void attempt(save)}>
            {isBusy ? "Saving…" : "Save"}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Summary() {
  const review = useSignal(useAgentDraft().review);
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
          {showCount(warnings + review.concerns.length, "remark")} on this text; see the Problems tab.
        </p>
      )}
    </>
  );
}

function sendTo(draft: EditedAgent, text: string): Promise<SaveResult> {
  if (draft.name === null) {
    return api.post("/api/agents", { text, hash: null, ...(draft.scope && { scope: draft.scope }) });
  }
  return api.put(`/api/agents/${encodePart(draft.name)}`, { text, hash: draft.saved.value.hash });
}

/** Saves; where it cannot, it stays reachable and says why. */
export function SaveButton({ onSave }: { onSave: () => void }) {
  const id = useId();
  const draft = useAgentDraft();
  const isDirty = useIsDirty(draft);
  const review = useSignal(draft.review);
  const theirs = useSignal(draft.theirs);
  const why = theirs
    ? "The file changed meanwhile: first choose whose text counts."
    : isDirty || draft.name === null
      ? (review?.refusals[0] ?? null)
      : "Nothing has changed.";
  return (
    <>
      <Tooltip words={why ?? `Look at the changes, then save (${MOD} S)`}>
        <Button
          kind="primary"
          aria-disabled={why !== null}
          aria-describedby={why ? id : undefined}
          onClick={() => why === null && onSave()}
          className={join(why !== null && "cursor-not-allowed opacity-60")}
        >
          <Save aria-hidden className="size-3.5" /> Save
        </Button>
      </Tooltip>
      {why && (
        <span id={id} className="sr-only">
          {why}
        </span>
      )}
    </>
  );
}
