import { CircleX, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiFailure } from "../../../data/client.ts";
import { useSignal } from "../../../live/signal.ts";
import { join } from "../../../ui/class-names.ts";
import { Button } from "../../../ui/controls.tsx";
import { useParam } from "../../../ui/use-address.ts";
import { useAgentDraft, useIsDirty } from "../use-agent-draft.tsx";

/** What stands between a draft and its file: a refusal, another's change, a restored text, a server that does not answer. */
export function EditorNotes() {
  const draft = useAgentDraft();
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
  const draft = useAgentDraft();
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

const LOOKS = {
  info: { icon: Info, tone: "text-run", soft: "bg-run-soft" },
  warning: { icon: TriangleAlert, tone: "text-warn", soft: "bg-warn-soft" },
  error: { icon: CircleX, tone: "text-bad", soft: "bg-bad-soft" },
};

/** A line above the editor that says how things stand, and what can be done about it. */
export function Note({
  level,
  children,
  actions,
}: {
  level: keyof typeof LOOKS;
  children: ReactNode;
  actions?: ReactNode;
}) {
  const { icon: Icon, tone, soft } = LOOKS[level];
  return (
    <div
      role={level === "error" ? "alert" : "status"}
      className={join("flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5", soft)}
    >
      <p className="flex min-w-0 flex-1 basis-60 items-start gap-2 text-xs text-ink">
        <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", tone)} />
        <span className="min-w-0 wrap-anywhere">{children}</span>
      </p>
      {actions && <div className="flex gap-1.5">{actions}</div>}
    </div>
  );
}
