import { Save } from "lucide-react";
import { useId } from "react";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/button.tsx";
import { join } from "../../../ui/join.ts";
import { MOD } from "../../../ui/keys.tsx";
import { Tooltip } from "../../../ui/tooltip.tsx";
import { useDraft, useIsDirty } from "../draft/use-draft.tsx";

/** Saves; where it cannot, it stays reachable and says why. */
export function SaveButton({ onSave, label = "Save" }: { onSave: () => void; label?: string }) {
  const id = useId();
  const draft = useDraft();
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
          <Save aria-hidden className="size-3.5" /> {label}
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
