import { ApiFailure } from "../../../api/client.ts";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/button.tsx";
import { useParam } from "../controls/use-param.ts";
import { useDraft, useIsDirty } from "../draft/use-draft.tsx";
import { Note } from "./note.tsx";

/** What stands between a draft and its file: a refusal, another's change, a restored text, a server that does not answer. */
export function EditorNotes() {
  const draft = useDraft();
  const failure = useSignal(draft.failure);
  const review = useSignal(draft.review);
  const theirs = useSignal(draft.theirs);
  const isRestored = useSignal(draft.isRestored);
  const isDirty = useIsDirty(draft);
  return (
    <>
      {failure !== null && (
        <Note
          level="error"
          actions={
            <Button small onClick={() => void draft.settled()}>
              Try again
            </Button>
          }
        >
          {failure instanceof Error ? failure.message : String(failure)}{" "}
          {failure instanceof ApiFailure && failure.hint}
        </Note>
      )}
      {theirs && <Conflict />}
      {isRestored && !theirs && (
        <Note
          level="info"
          actions={
            <>
              <Button small onClick={() => draft.isRestored.set(false)}>
                Keep
              </Button>
              <Button small onClick={() => draft.discard()}>
                Discard
              </Button>
            </>
          }
        >
          Your unsaved changes from before are back.
        </Note>
      )}
      {isDirty &&
        review?.refusals.map((refusal) => (
          <Note key={refusal} level="error">
            Cannot be saved: {refusal}
          </Note>
        ))}
    </>
  );
}

function Conflict() {
  const draft = useDraft();
  const [, setSide] = useParam("side");
  return (
    <Note
      level="warning"
      actions={
        <>
          <Button small onClick={() => setSide("diff")}>
            Show the difference
          </Button>
          <Button small onClick={() => draft.discard()}>
            Load theirs
          </Button>
          <Button small onClick={() => draft.keepMine()}>
            Keep mine
          </Button>
        </>
      }
    >
      The file was changed by someone else since you opened it. What you typed is still here.
    </Note>
  );
}
