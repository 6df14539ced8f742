import { Hand } from "lucide-react";
import { useRef } from "react";
import { useLocation, useParams } from "wouter";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { join } from "../../ui/join.ts";
import { REACHABLE } from "../../ui/reachable.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { ApprovalList } from "./approval-list.tsx";
import { ChosenApproval } from "./chosen-approval.tsx";
import { useApprovalLists } from "./use-approval-lists.ts";
import { useShown } from "./use-shown.ts";

/** Calls that wait for a person's word, and what was said to earlier ones. */
export default function ApprovalsScreen() {
  const lists = useApprovalLists();
  const { waiting, settled, isLoading, failure, retry } = lists;
  const { id: named } = useParams<{ id?: string }>();
  const [, go] = useLocation();
  const focusOn = useRef<string | null>(null);
  const pane = useRef<HTMLElement>(null);
  const { shown, isSought } = useShown(named, waiting, settled);
  const choose = (id: string | undefined, replace = false) => {
    focusOn.current = id ?? null;
    go(id ? `/approvals/${encodeURIComponent(id)}` : "/approvals", { replace });
  };
  const step = (by: number) => {
    const at = waiting.findIndex(({ approvalId }) => approvalId === shown?.approvalId);
    choose(waiting[Math.max(0, Math.min(waiting.length - 1, at + by))]?.approvalId);
  };
  useShortcuts([
    { keys: "j", does: "Next question", act: () => step(1) },
    { keys: "k", does: "Question before", act: () => step(-1) },
  ]);
  const goOn = (answered: string) => {
    const at = waiting.findIndex(({ approvalId }) => approvalId === answered);
    const rest = waiting.filter(({ approvalId }) => approvalId !== answered);
    const next = rest[at] ?? rest.at(-1);
    if (!next) pane.current?.focus();
    choose(next?.approvalId, true);
  };
  const isWaiting = waiting.some(({ approvalId }) => approvalId === shown?.approvalId);
  return (
    <>
      <ScreenHead title="Approvals" about="What agents may do only if you say so" />
      {isLoading && <Loading />}
      {failure !== null && <Failed failure={failure} onRetry={retry} />}
      {!isLoading && failure === null && (
        <div className="flex min-h-0 flex-1">
          <section
            aria-label="Questions"
            {...REACHABLE}
            className={join(
              "min-h-0 overflow-auto border-line max-lg:flex-1 lg:w-96 lg:shrink-0 lg:border-r",
              named && "max-lg:hidden",
            )}
          >
            <ApprovalList
              lists={lists}
              chosen={shown?.approvalId ?? null}
              onChoose={(id) => {
                focusOn.current = id;
              }}
            />
          </section>
          <section
            ref={pane}
            aria-label="Chosen question"
            {...REACHABLE}
            className={join("min-h-0 flex-1 overflow-auto bg-panel", !named && "max-lg:hidden")}
          >
            {isSought ? (
              <Loading />
            ) : shown || named ? (
              <ChosenApproval
                approval={shown}
                isWaiting={isWaiting}
                takesFocus={focusOn.current !== null && focusOn.current === shown?.approvalId}
                onDone={() => shown && goOn(shown.approvalId)}
              />
            ) : (
              <Empty icon={Hand} title="Nothing waits for you">
                When an agent wants to do something that its rules leave to you, it waits here until you
                answer.
              </Empty>
            )}
          </section>
        </div>
      )}
    </>
  );
}
