import { ArrowLeft, Copy, Save, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { AgentCard, SaveResult } from "../../../../../src/schema/api/agent.ts";
import { api } from "../../../api/client.ts";
import { renew } from "../../../api/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/button.tsx";
import { AgentMark } from "../../../ui/face.tsx";
import { ScreenHead } from "../../../ui/screen-head.tsx";
import { attempt, tell } from "../../../ui/toast.tsx";
import { useDraft, useIsDirty } from "../draft/use-draft.tsx";
import { HealthMark } from "../list/health-mark.tsx";
import { SCOPES } from "../list/scopes.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { SaveButton } from "./save-button.tsx";

/** Who it is, where it stands, how sound it is, and what can be done with it. */
export function EditorHead({
  card,
  canCopy,
  onSave,
}: {
  card: AgentCard;
  canCopy: boolean;
  onSave: () => void;
}) {
  const [isDeleting, setIsDeleting] = useState(false);
  const isFile = card.isEditable;
  return (
    <ScreenHead title={<HeadTitle card={card} />} tab={card.displayName} about={<About card={card} />}>
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

function HeadTitle({ card }: { card: AgentCard }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Link
        href="/agents"
        aria-label="All agents"
        className="grid size-7 place-items-center rounded-md text-ink-2 hover:bg-hover lg:hidden"
      >
        <ArrowLeft aria-hidden className="size-4" />
      </Link>
      <AgentMark name={card.name} />
      <span className="truncate">{card.displayName}</span>
    </span>
  );
}

function About({ card }: { card: AgentCard }) {
  const review = useSignal(useDraft().review);
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
  const draft = useDraft();
  const isDirty = useIsDirty(draft);
  if (!isDirty) return null;
  return (
    <Button onClick={() => draft.discard()}>
      <Undo2 aria-hidden className="size-3.5" /> Discard
    </Button>
  );
}

function Customise({ card }: { card: AgentCard }) {
  const draft = useDraft();
  const [isBusy, setIsBusy] = useState(false);
  const copy = async () => {
    setIsBusy(true);
    await attempt(async () => {
      const request = { text: draft.text.value, hash: null, scope: "project" };
      const { file } = await api.post<SaveResult>("/api/agents", request);
      await renew({ queryKey: ["agents"] });
      tell(`${card.displayName} is now yours to change, in ${file}`);
    });
    setIsBusy(false);
  };
  return (
    <Button kind="primary" disabled={isBusy} onClick={() => void copy()}>
      {isBusy ? <Save aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}{" "}
      Customise
    </Button>
  );
}
