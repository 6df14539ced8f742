import type { AgentReview } from "@retinue/core/schema/api/agent";
import { ArrowDown } from "lucide-react";
import { lazy, type ReactNode, Suspense, useCallback, useRef, useState } from "react";
import { useLocation } from "wouter";
import { ApiFailure } from "../../../data/client.ts";
import { renew } from "../../../data/queries.ts";
import { useShortcuts } from "../../../frame/shortcuts.ts";
import { useSignal } from "../../../live/signal.ts";
import { useUnsavedWarning } from "../../../live/use-kept-text.ts";
import { Button } from "../../../ui/controls.tsx";
import { PaneTabs } from "../../../ui/pane-tabs.tsx";
import { Loading, Note } from "../../../ui/states.tsx";
import { useParam } from "../../../ui/use-address.ts";
import type { EditedAgent } from "../agent-draft.ts";
import { agentPath } from "../agent-marks.tsx";
import { FormPane } from "../form/form-pane.tsx";
import { SidePane } from "../side/side-pane.tsx";
import { DraftScope, useAgentDraft, useIsDirty } from "../use-agent-draft.tsx";
import { SaveDialog } from "./saving.tsx";

const RawPane = lazy(() => import("./raw-pane.tsx"));

type DraftEditorProps = {
  draft: EditedAgent;
  readOnly?: boolean;
  hasFile?: boolean;
  /** The review of the file, to compare with. */
  before?: AgentReview | null;
  /** What stands above it. */
  head: (save: () => void) => ReactNode;
};

/** A draft on the page, whether of an agent that exists or of a new one, and the way it is saved. */
export function DraftEditor({
  draft,
  readOnly = false,
  hasFile = true,
  before = null,
  head,
}: DraftEditorProps) {
  const [, go] = useLocation();
  const [isSaving, setIsSaving] = useState(false);
  const isUnsaved = useIsDirty(draft) || draft.name === null;
  const save = () => {
    if (readOnly || !isUnsaved) return;
    void draft.settled().then((judged) => judged?.refusals.length === 0 && setIsSaving(true));
  };
  useShortcuts([{ keys: "Mod-s", does: "Save the agent", act: save }]);
  useUnsavedWarning(isUnsaved);
  const onSaved = (name: string) => {
    setIsSaving(false);
    if (name !== draft.name) go(agentPath(name));
    void renew({ queryKey: ["agents"] });
  };
  return (
    <DraftScope draft={draft} readOnly={readOnly}>
      {head(save)}
      <EditorNotes />
      <EditorBody hasFile={hasFile} before={before} />
      <SaveDialog open={isSaving} onClose={() => setIsSaving(false)} onSaved={onSaved} />
    </DraftScope>
  );
}

/** Form or raw text on the left; on the right, or below on a narrow page, what comes of it. */
function EditorBody({ hasFile, before }: { hasFile: boolean; before: AgentReview | null }) {
  const [pane, setPane] = useParam("pane");
  const [, setSide] = useParam("side");
  const draft = useAgentDraft();
  const outcome = useRef<HTMLElement>(null);
  const showProblems = useCallback(() => setSide("problems"), [setSide]);
  const jump = (line: number) => {
    setPane("raw");
    draft.jump.set(line);
  };
  const raw = (
    <Suspense fallback={<Loading label="Loading the editor" />}>
      <RawPane />
    </Suspense>
  );
  return (
    <div className="@container min-h-0 flex-1 overflow-auto @4xl:overflow-hidden">
      <div className="flex flex-col @4xl:h-full @4xl:flex-row">
        <section aria-label="The agent" className="flex min-w-0 flex-col @4xl:min-h-0 @4xl:flex-1">
          <PaneTabs
            label="Editor"
            value={hasFile && pane === "raw" ? "raw" : "form"}
            onChange={(value) => setPane(value === "form" ? "" : value)}
            aside={<Aside onOutcome={() => outcome.current?.scrollIntoView()} />}
            tabs={[
              { value: "form", label: "Form", content: <FormPane onProblems={showProblems} /> },
              ...(hasFile ? [{ value: "raw", label: "Raw", content: raw }] : []),
            ]}
          />
        </section>
        <section
          ref={outcome}
          aria-label="Outcome"
          className="flex min-w-0 flex-col border-line max-@4xl:border-t @4xl:min-h-0 @4xl:flex-1 @4xl:border-l"
        >
          <SidePane before={before} onJump={hasFile ? jump : null} />
        </section>
      </div>
    </div>
  );
}

function Aside({ onOutcome }: { onOutcome: () => void }) {
  const isWorking = useSignal(useAgentDraft().isWorking);
  return (
    <div className="flex items-center gap-2">
      <span role="status" className="text-xs text-ink-3">
        {isWorking ? "Checking…" : ""}
      </span>
      <Button small kind="quiet" className="@4xl:hidden" onClick={onOutcome}>
        <ArrowDown aria-hidden className="size-3" /> Rights and more
      </Button>
    </div>
  );
}

/** What stands between a draft and its file: a refusal, another's change, a restored text, a server that does not answer. */
function EditorNotes() {
  const draft = useAgentDraft();
  const failure = useSignal(draft.failure);
  const review = useSignal(draft.review);
  const theirs = useSignal(draft.theirs);
  const isRestored = useSignal(draft.isRestored);
  const isDirty = useIsDirty(draft);
  return (
    <>
      {failure !== null && (
        <Note level="error" actions={[["Try again", () => void draft.settled()]]}>
          {failure instanceof Error ? failure.message : String(failure)}{" "}
          {failure instanceof ApiFailure && failure.hint}
        </Note>
      )}
      {theirs && <Conflict />}
      {isRestored && !theirs && (
        <Note
          level="info"
          actions={[
            ["Keep", () => draft.isRestored.set(false)],
            ["Discard", () => draft.discard()],
          ]}
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
      actions={[
        ["Show the difference", () => setSide("diff")],
        ["Load theirs", () => draft.discard()],
        ["Keep mine", () => draft.keepMine()],
      ]}
    >
      The file was changed by someone else since you opened it. What you typed is still here.
    </Note>
  );
}
