import type { AgentDetail } from "@retinue/core/schema/api/agent";
import { useQuery } from "@tanstack/react-query";
import { memo, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { ApiFailure, api, encodePart } from "../../../data/client.ts";
import { renew } from "../../../data/queries.ts";
import { ScreenHead } from "../../../ui/screen-head.tsx";
import { Loaded } from "../../../ui/states.tsx";
import { EditedAgent, storedDraft } from "../agent-draft.ts";
import { agentPath } from "../agent-marks.tsx";
import { DraftScope, useIsDirty } from "../use-agent-draft.tsx";
import { EditorBody } from "./editor-body.tsx";
import { EditorHead } from "./editor-head.tsx";
import { EditorNotes, Note } from "./editor-notes.tsx";
import { SaveDialog, useSaveKeys } from "./saving.tsx";

/** One agent: its file and form beside each other with what it may do. */
export const AgentEditor = memo(function AgentEditor({ name }: { name: string }) {
  const query = useAgentDetail(name);
  return (
    <>
      {!query.data && <ScreenHead title={name} />}
      <Loaded query={query} label="Loading the agent">
        {(detail) => <OpenEditor key={`${name} ${detail.card.scope} ${detail.card.file}`} detail={detail} />}
      </Loaded>
    </>
  );
});

function OpenEditor({ detail }: { detail: AgentDetail }) {
  const { card, review } = detail;
  const [, go] = useLocation();
  const [draft] = useState(() => createDraft(detail));
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

/** Reads the file again; the draft then notices that it has changed since it began. */
function conflict(failure: unknown): boolean {
  if (!(failure instanceof ApiFailure) || failure.status !== 409) return false;
  void renew({ queryKey: ["agents"] });
  return true;
}

function createDraft({ card, text, hash, review }: AgentDetail): EditedAgent {
  return new EditedAgent({
    name: card.name,
    scope: card.scope === "project" || card.scope === "user" ? card.scope : undefined,
    file: { text: text ?? "", hash },
    review,
    stored: card.isEditable ? storedDraft(card.name) : null,
  });
}

/** An agent with its file and what is known of it; the news stream says when it changed. */
function useAgentDetail(name: string) {
  return useQuery({
    queryKey: ["agents", "one", name],
    queryFn: () => api.get<AgentDetail>(`/api/agents/${encodePart(name)}`),
    // The file may have changed while the page was elsewhere.
    refetchOnMount: "always",
  });
}
