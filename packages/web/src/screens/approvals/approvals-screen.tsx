import type { ApprovalView } from "@retinue/core/schema/api/approval";
import { ArrowLeft, CircleHelp, Hand } from "lucide-react";
import { useEffect, useRef } from "react";
import { Link, useLocation, useParams } from "wouter";
import { encodePart } from "../../data/client.ts";
import { useFetched } from "../../data/queries.ts";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { ApprovalCard } from "../../ui/approval-card.tsx";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { TextLink } from "../../ui/controls.tsx";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { ApprovalListPane, useApprovalLists } from "./approval-list.tsx";

/** Calls that need a person's approval, and the answers to earlier ones. */
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
    go(id ? `/approvals/${encodePart(id)}` : "/approvals", { replace });
  };
  const step = (by: number) => {
    const at = waiting.findIndex(({ approvalId }) => approvalId === shown?.approvalId);
    choose(waiting[Math.max(0, Math.min(waiting.length - 1, at + by))]?.approvalId);
  };
  useShortcuts([
    { keys: "j", does: "Next question", act: () => step(1) },
    { keys: "k", does: "Previous question", act: () => step(-1) },
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
      <ScreenHead title="Approvals" about="What agents may do only with your approval" />
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
            <ApprovalListPane
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
                When an agent needs your approval for something, the question waits here until you answer.
              </Empty>
            )}
          </section>
        </div>
      )}
    </>
  );
}

type ChosenApprovalProps = {
  approval: ApprovalView | null;
  isWaiting: boolean;
  takesFocus: boolean;
  onDone: () => void;
};

/** The chosen call in full. It stays if it is answered elsewhere, and says so. */
function ChosenApproval({ approval, isWaiting, takesFocus, onDone }: ChosenApprovalProps) {
  const card = useRef<HTMLElement>(null);
  const answeredHere = useRef(new Set<string>());
  const id = approval?.approvalId;
  const wasWaiting = useRef<string | null>(null);
  if (isWaiting && id) wasWaiting.current = id;
  useEffect(() => {
    if (takesFocus && id) card.current?.focus();
  }, [takesFocus, id]);
  if (!approval)
    return (
      <Empty icon={CircleHelp} title="There is no such question">
        It may belong to another project's record. <TextLink href="/approvals">See what waits</TextLink>
      </Empty>
    );
  const isTakenElsewhere =
    !isWaiting && wasWaiting.current === id && !answeredHere.current.has(approval.approvalId);
  return (
    <div className="mx-auto grid w-full max-w-3xl gap-3 px-4 pt-4 pb-0">
      <Link href="/approvals" className="inline-flex items-center gap-1 text-xs text-ink-2 lg:hidden">
        <ArrowLeft aria-hidden className="size-3.5" /> All questions
      </Link>
      {isTakenElsewhere && (
        <p role="status" className="rounded-md bg-run-soft px-3 py-2 text-sm text-run">
          {approval.answer
            ? `This was answered elsewhere, by ${revealHidden(approval.answer.by)}.`
            : "This does not wait any more: it was answered elsewhere, or its run has ended."}
        </p>
      )}
      {!isWaiting && !isTakenElsewhere && approval.answer === null && (
        <p className="rounded-md bg-off-soft px-3 py-2 text-sm text-ink-2">
          Nobody answered this. Its session has ended, so it does not wait any more.
        </p>
      )}
      <ApprovalCard
        key={approval.approvalId}
        ref={card}
        approval={approval}
        isGone={!isWaiting}
        onDone={() => {
          answeredHere.current.add(approval.approvalId);
          onDone();
        }}
      />
    </div>
  );
}

/**
 * The question on show: the one that the address names, or else the oldest, which then stays until another is chosen. What
 * lies under the pointer never changes by itself. One that is in neither list is asked for.
 */
function useShown(
  named: string | undefined,
  waiting: readonly ApprovalView[],
  settled: readonly ApprovalView[],
): { shown: ApprovalView | null; isSought: boolean } {
  const last = useRef<ApprovalView | null>(null);
  const wanted = named ?? last.current?.approvalId ?? waiting[0]?.approvalId;
  const isWanted = ({ approvalId }: ApprovalView) => approvalId === wanted;
  const listed = waiting.find(isWanted) ?? settled.find(isWanted);
  const isMissing = wanted !== undefined && !listed;
  const path = `/api/approvals/${encodePart(wanted ?? "")}`;
  const asked = useFetched<ApprovalView>(["approvals", "one", wanted], path, { enabled: isMissing });
  const found = listed ?? (isMissing ? asked.data : undefined);
  if (found) last.current = found;
  const shown = last.current?.approvalId === wanted ? last.current : null;
  return { shown, isSought: isMissing && shown === null && asked.isPending };
}
