import type { AgentCard, AgentDetail, SaveResult } from "@retinue/core/schema/api/agent";
import { ArrowLeft, Copy, Save, Trash2, Undo2 } from "lucide-react";
import { memo, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { api, encodePart, withQuery } from "../../../data/client.ts";
import { queryClient, renew, useAgents, useFetched } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { Button, IconLink } from "../../../ui/controls.tsx";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { AgentMark } from "../../../ui/face.tsx";
import { ScreenHead } from "../../../ui/screen-head.tsx";
import { Loaded, Note } from "../../../ui/states.tsx";
import { tell, useAttempt } from "../../../ui/toast.tsx";
import { EditedAgent, forgetDraft, storedDraft } from "../agent-draft.ts";
import { HealthMark, SCOPES } from "../agent-marks.tsx";
import { useAgentDraft, useIsDirty } from "../use-agent-draft.tsx";
import { DraftEditor } from "./editor-body.tsx";
import { SaveButton } from "./saving.tsx";

/** One agent: its file and form beside each other with what it may do. */
export const AgentEditor = memo(function AgentEditor({ name }: { name: string }) {
  const query = useFetched<AgentDetail>(["agents", "one", name], `/api/agents/${encodePart(name)}`, {
    // The file may have changed while the page was elsewhere.
    refetchOnMount: "always",
  });
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
  const [draft] = useState(() => createDraft(detail));
  useEffect(() => draft.reload(detail), [draft, detail]);
  const hasFile = detail.text !== null;
  return (
    <DraftEditor
      draft={draft}
      readOnly={!card.isEditable}
      hasFile={hasFile}
      before={review}
      head={(save) => (
        <>
          <EditorHead card={card} canCopy={hasFile} onSave={save} />
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
        </>
      )}
    />
  );
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

/** Who it is, where it stands, how sound it is, and what can be done with it. */
function EditorHead({ card, canCopy, onSave }: { card: AgentCard; canCopy: boolean; onSave: () => void }) {
  const [isDeleting, setIsDeleting] = useState(false);
  const isFile = card.isEditable;
  const title = (
    <span className="flex min-w-0 items-center gap-2">
      <IconLink href="/agents" aria-label="All agents" className="lg:hidden">
        <ArrowLeft aria-hidden className="size-4" />
      </IconLink>
      <AgentMark name={card.name} />
      <span className="truncate">{card.displayName}</span>
    </span>
  );
  return (
    <ScreenHead title={title} tab={card.displayName} about={<About card={card} />}>
      {isFile && <Discard />}
      {isFile && (
        <Button kind="danger" onClick={() => setIsDeleting(true)}>
          <Trash2 aria-hidden className="size-3.5" /> Delete
        </Button>
      )}
      {isFile && <SaveButton onSave={onSave} />}
      {!isFile && canCopy && <Customise card={card} />}
      <DeleteDialog card={card} open={isDeleting} onClose={() => setIsDeleting(false)} />
    </ScreenHead>
  );
}

function About({ card }: { card: AgentCard }) {
  const review = useSignal(useAgentDraft().review);
  const count = (severity: string) =>
    review?.problems.filter((problem) => problem.severity === severity).length ?? 0;
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-0.5">
      <span>{SCOPES[card.scope]}</span>
      {card.file && (
        <code className="min-w-0 truncate font-mono text-2xs" title={card.file}>
          {card.file}
        </code>
      )}
      <HealthMark health={{ errors: count("error"), warnings: count("warning"), notes: count("info") }} />
    </span>
  );
}

function Discard() {
  const draft = useAgentDraft();
  const isDirty = useIsDirty(draft);
  if (!isDirty) return null;
  return (
    <Button onClick={() => draft.discard()}>
      <Undo2 aria-hidden className="size-3.5" /> Discard
    </Button>
  );
}

function Customise({ card }: { card: AgentCard }) {
  const draft = useAgentDraft();
  const [isBusy, attempt] = useAttempt();
  const copy = () =>
    attempt(async () => {
      const request = { text: draft.text.value, hash: null, scope: "project" };
      const { file } = await api.post<SaveResult>("/api/agents", request);
      await renew({ queryKey: ["agents"] });
      tell(`${card.displayName} is now yours to change, in ${file}`);
    });
  return (
    <Button kind="primary" disabled={isBusy} onClick={() => void copy()}>
      {isBusy ? <Save aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}{" "}
      Customise
    </Button>
  );
}

/** Asks before an agent's file is removed, and says what that leaves behind. */
function DeleteDialog({ card, open, onClose }: { card: AgentCard; open: boolean; onClose: () => void }) {
  const draft = useAgentDraft();
  const [, go] = useLocation();
  const { data } = useAgents();
  const [isBusy, attempt] = useAttempt();
  const users = data?.agents.filter(({ subagents }) => subagents?.includes(card.name)) ?? [];
  const next = data?.agents.find(({ name, state }) => name === card.name && state === "shadowed");
  const remove = async () => {
    const isDone = await attempt(() =>
      api.delete(withQuery(`/api/agents/${encodePart(card.name)}`, { hash: draft.saved.value.hash ?? "" })),
    );
    if (!isDone) return;
    forgetDraft(card.name);
    tell(`Deleted ${card.file}`);
    go("/agents");
    queryClient.removeQueries({ queryKey: ["agents", "one", card.name] });
    void renew({ queryKey: ["agents"] });
  };
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Delete ${card.displayName}?`}
      yes="Delete"
      no="Keep it"
      isBusy={isBusy}
      onYes={() => void remove()}
    >
      <p className="wrap-anywhere text-ink">
        This removes the file <code className="font-mono text-xs">{card.file}</code>. It cannot be undone
        here.
      </p>
      {next && <p>The agent of that name in {next.file ?? "the code"} is used again.</p>}
      {!next && users.length > 0 && (
        <p className="text-warn">
          These agents name it and will not find it: {users.map(({ name }) => name).join(", ")}.
        </p>
      )}
    </ConfirmDialog>
  );
}
