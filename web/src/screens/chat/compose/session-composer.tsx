import { type RefObject, useState } from "react";
import type { SessionCard } from "../../../../../src/schema/api/session.ts";
import { api } from "../../../api/client.ts";
import { useAbout, useFace } from "../../../api/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { useSelected } from "../../../live/use-selected.ts";
import { useSession } from "../../../live/use-session.tsx";
import { useChatView } from "../chat-view.ts";
import { AgentPicker } from "./agent-picker.tsx";
import { Composer } from "./composer.tsx";

/** The next message of a session: to the run at work, or the task of a new one. */
export function SessionComposer({
  field,
  onSent,
}: {
  field: RefObject<HTMLTextAreaElement | null>;
  onSent: () => void;
}) {
  const store = useSession();
  const view = useChatView();
  const session = useSignal(store.session);
  const roots = useSignal(store.roots);
  const isLive = useSelected(store.totals, ({ live }) => live > 0);
  const { data: about } = useAbout();
  const [chosen, setChosen] = useState<string | null>(null);
  const last = store.run(roots.at(-1) ?? "")?.value;
  const agent = chosen ?? session?.agent ?? about?.agent ?? "main";
  const { displayName } = useFace(isLive && last ? last.agent : agent);
  const send = async (text: string) => {
    const { steered, runId } = await api.post<{ steered: boolean; runId: string }>(
      `/api/sessions/${store.sessionId}/messages`,
      { text, ...(chosen !== null && !isLive && { agent: chosen }) },
    );
    if (steered) view.say(runId, text);
    onSent();
  };
  const refusal = session ? refusalOf(session) : null;
  return (
    <Composer
      ref={field}
      place={store.sessionId}
      refusal={refusal}
      placeholder={
        isLive && refusal === null
          ? `Tell ${displayName} something while it works…`
          : `Ask ${displayName} something more…`
      }
      onSend={send}
    >
      {!isLive && <AgentPicker agent={agent} onPick={setChosen} />}
      {isLive && session?.holder === "here" && (
        <p className="min-w-0 flex-1 px-1.5 text-xs text-ink-3">It is read before the next turn.</p>
      )}
    </Composer>
  );
}

function refusalOf({ holder, state }: SessionCard): string | null {
  if (holder === "elsewhere")
    return "This session runs in another process. You can watch and stop it here, and write to it there.";
  if (state === "interrupted") return "It was interrupted in the middle of a task. Resume or stop it first.";
  if (state === "waiting" && holder === null) return "It waits for your answer above.";
  return null;
}
