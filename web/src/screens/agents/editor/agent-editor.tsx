import { memo, useEffect, useState } from "react";
import { useLocation } from "wouter";
import type { AgentDetail } from "../../../../../src/schema/api/agent.ts";
import { ApiFailure } from "../../../api/client.ts";
import { renew } from "../../../api/queries.ts";
import { ScreenHead } from "../../../ui/screen-head.tsx";
import { Failed, Loading } from "../../../ui/states.tsx";
import { agentPath } from "../agent-path.ts";
import { Draft } from "../draft/draft.ts";
import { storedDraft } from "../draft/stored-drafts.ts";
import { useAgentDetail } from "../draft/use-agent-detail.ts";
import { DraftScope, useIsDirty } from "../draft/use-draft.tsx";
import { EditorBody } from "./editor-body.tsx";
import { EditorHead } from "./editor-head.tsx";
import { EditorNotes } from "./editor-notes.tsx";
import { Note } from "./note.tsx";
import { SaveDialog } from "./save-dialog.tsx";
import { useSaveKeys } from "./use-save-keys.ts";

/** One agent: its file and form beside each other with what it may do. */
export const AgentEditor = memo(function AgentEditor({ name }: { name: string }) {
  const { data, error, refetch } = useAgentDetail(name);
  if (data) return <OpenEditor key={`${name} ${data.card.scope} ${data.card.file}`} detail={data} />;
  return (
    <>
      <ScreenHead title={name} />
      {error ? (
        <Failed failure={error} onRetry={() => void refetch()} />
      ) : (
        <Loading label="Loading the agent" />
      )}
    </>
  );
});

function OpenEditor({ detail }: { detail: AgentDetail }) {
  const { card, review } = detail;
  const [, go] = useLocation();
  const [draft] = useState(() => draftOf(detail));
  const [isSaving, setIsSaving] = useState(false);
  const isDirty = useIsDirty(draft);
  useEffect(() => draft.reload(detail), [draft, detail]);
  const save = () => {
    if (!card.isEditable || !draft.isDirty) return;
    void draft.settled().then((judged) => judged?.refusals.length === 0 && setIsSaving(true));
  };
  useSaveKeys(save, isDirty);
  const onSaved = (name: string) => {
    setIsSaving(false);
    if (name !== card.name) go(agentPath(name));
    void renew({ queryKey: ["agents"] });
  };
  return (
    <DraftScope draft={draft} readOnly={!card.isEditable}>
      <EditorHead card={card} canCopy={detail.text !== null} onSave={save} />
      {!card.isEditable && (
        <Note level="info">
          {card.scope === "builtin"
            ? "This agent is built in. Customise it to get a copy in the project that you can change."
            : "This agent cannot be changed here. You see it as it is."}
        </Note>
      )}
      {card.shadowedBy && (
        <Note level="warning">Another agent has this name and comes first: {card.shadowedBy}</Note>
      )}
      <EditorNotes />
      <EditorBody hasFile={detail.text !== null} before={review} />
      <SaveDialog
        open={isSaving}
        onClose={() => setIsSaving(false)}
        onSaved={onSaved}
        onConflict={conflict}
      />
    </DraftScope>
  );
}

/** The file is read again; the draft then sees that it is another than the one it began from. */
function conflict(failure: unknown): boolean {
  if (!(failure instanceof ApiFailure) || failure.status !== 409) return false;
  void renew({ queryKey: ["agents"] });
  return true;
}

function draftOf({ card, text, hash, review }: AgentDetail): Draft {
  return new Draft({
    name: card.name,
    scope: card.scope === "project" || card.scope === "user" ? card.scope : undefined,
    file: { text: text ?? "", hash },
    review,
    stored: card.isEditable ? storedDraft(card.name) : null,
  });
}
