import { FileWarning } from "lucide-react";
import { memo, useSyncExternalStore } from "react";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { useDraft } from "../draft/use-draft.tsx";
import { Note } from "../editor/note.tsx";
import { RightsSection } from "../rights/rights-section.tsx";
import { IdentitySection } from "./identity-section.tsx";
import { LimitsSection } from "./limits-section.tsx";
import { ModelSection } from "./model-section.tsx";
import { PromptSection } from "./prompt-section.tsx";
import { SubagentsSection } from "./subagents-section.tsx";
import { WorkSection } from "./work-section.tsx";

/** The file as a form. What it does not show stays in the file as it is. */
export const FormPane = memo(function FormPane({ onProblems }: { onProblems: () => void }) {
  const draft = useDraft();
  const hasForm = useSyncExternalStore(draft.form.subscribe, () => draft.form.value !== null);
  const review = useSignal(draft.review);
  const why = (
    <Button small onClick={onProblems}>
      Show why
    </Button>
  );
  if (!hasForm) {
    if (!review) return <Loading label="Reading the text" />;
    return (
      <Empty icon={FileWarning} title="No agent can be made of this text">
        <p className="pb-2">Mend it under Raw; the form follows as soon as it can be read.</p>
        {why}
      </Empty>
    );
  }
  return (
    <div className="@container">
      {review?.form === null && (
        <Note level="warning" actions={why}>
          The raw text cannot be read right now. You see the form as it last was, read-only.
        </Note>
      )}
      <IdentitySection />
      <ModelSection />
      <RightsSection />
      <SubagentsSection />
      <LimitsSection />
      <WorkSection />
      <PromptSection />
    </div>
  );
});
