import type { AgentReview } from "@retinue/core/schema/api/agent";
import { ArrowDown } from "lucide-react";
import { lazy, Suspense, useCallback, useRef } from "react";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/controls.tsx";
import { PaneTabs } from "../../../ui/pane-tabs.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useParam } from "../../../ui/use-address.ts";
import { FormPane } from "../form/form-pane.tsx";
import { SidePane } from "../side/side-pane.tsx";
import { useAgentDraft } from "../use-agent-draft.tsx";

const RawPane = lazy(() => import("./raw-pane.tsx"));

/** Form or raw text on the left; on the right, or below on a narrow page, what comes of it. */
export function EditorBody({ hasFile, before }: { hasFile: boolean; before: AgentReview | null }) {
  const [pane, setPane] = useParam("pane");
  const [, setSide] = useParam("side");
  const draft = useAgentDraft();
  const outcome = useRef<HTMLElement>(null);
  const open = useRef(setSide);
  open.current = setSide;
  const showProblems = useCallback(() => open.current("problems"), []);
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
            label="How to edit it"
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
          aria-label="What comes of it"
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
