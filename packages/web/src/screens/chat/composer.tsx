import type { SessionCard } from "@retinue/core/schema/api/session";
import { ArrowUp, ChevronsUpDown, LoaderCircle } from "lucide-react";
import { type KeyboardEvent, type ReactNode, type Ref, type RefObject, useRef, useState } from "react";
import { api } from "../../data/client.ts";
import { useAbout, useAgents, useFace } from "../../data/queries.ts";
import { useSelected, useSignal } from "../../live/signal.ts";
import { useKeptText } from "../../live/use-kept-text.ts";
import { useSession } from "../../live/use-session.tsx";
import { join } from "../../ui/class-names.ts";
import { Button, submitWith } from "../../ui/controls.tsx";
import { AgentMark } from "../../ui/face.tsx";
import { useAttempt } from "../../ui/toast.tsx";
import { useChatView } from "./chat-view.ts";

const MOST_CHARS = 200_000;

type ComposerProps = {
  /** What the draft belongs to. */
  place: string;
  placeholder: string;
  /** Resolves once it is sent; its failure is told here. */
  onSend: (text: string) => Promise<void>;
  /** Why nothing can be sent now. */
  refusal?: string | null;
  roomy?: boolean;
  /** What stands beside the button that sends. */
  children?: ReactNode;
  ref?: Ref<HTMLTextAreaElement>;
};

/** Where the person writes. Text that could not be sent stays where it is. */
export function Composer({
  place,
  placeholder,
  onSend,
  refusal = null,
  roomy = false,
  children,
  ref,
}: ComposerProps) {
  const [text, setText] = useKeptText(place);
  const latest = useRef(text);
  latest.current = text;
  const [isSending, attempt] = useAttempt();
  const isReady = text.trim() !== "" && !isSending && refusal === null;
  const send = async () => {
    if (!isReady || !(await attempt(() => onSend(text.trim())))) return;
    // What was typed meanwhile is the beginning of the next message.
    const { current: now } = latest;
    setText(now.startsWith(text) ? now.slice(text.length).trimStart() : now);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      className="rounded-xl border border-line-strong bg-panel shadow-float focus-within:border-accent"
      onSubmit={submitWith(send)}
    >
      <textarea
        ref={ref}
        aria-label="Message"
        aria-describedby={refusal === null ? undefined : `${place}-refusal`}
        rows={roomy ? 3 : 1}
        maxLength={MOST_CHARS}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className={join(
          "block field-sizing-content max-h-[40vh] w-full resize-none bg-transparent px-3.5 pt-2.5 text-base outline-none placeholder:text-ink-3",
          roomy ? "min-h-20" : "min-h-9",
        )}
      />
      <div className="flex min-h-10 flex-wrap items-center gap-2 px-2 pb-2">
        {children}
        {refusal !== null && (
          <p id={`${place}-refusal`} className="min-w-0 flex-1 px-1.5 text-xs text-ink-2">
            {refusal}
          </p>
        )}
        <Button
          type="submit"
          kind="primary"
          aria-label="Send"
          title="Send (Enter)"
          disabled={!isReady}
          className="ml-auto w-8 rounded-lg px-0!"
        >
          {isSending ? (
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
          ) : (
            <ArrowUp aria-hidden className="size-4" />
          )}
        </Button>
      </div>
    </form>
  );
}

type SessionComposerProps = { field: RefObject<HTMLTextAreaElement | null>; onSent: () => void };

/** The next message of a session: to the run at work, or the task of a new one. */
export function SessionComposer({ field, onSent }: SessionComposerProps) {
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
  const refusal = session ? explainRefusal(session) : null;
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
        <p className="min-w-0 flex-1 px-1.5 text-xs text-ink-3">It will be read before the next turn.</p>
      )}
    </Composer>
  );
}

function explainRefusal({ holder, state }: SessionCard): string | null {
  if (holder === "elsewhere")
    return "This session runs in another process. You can watch and stop it here; write to it there.";
  if (state === "interrupted") return "It was interrupted in the middle of a task. Resume or stop it first.";
  if (state === "waiting" && holder === null) return "It needs your answer above.";
  return null;
}

/** Chooses who answers, among the agents that can. */
export function AgentPicker({ agent, onPick }: { agent: string; onPick: (agent: string) => void }) {
  const { data } = useAgents();
  const enabled = data?.agents.filter(({ state }) => state === "enabled") ?? [];
  const isKnown = enabled.some(({ name }) => name === agent);
  return (
    <span className="relative inline-flex h-7 max-w-56 items-center gap-1.5 rounded-md pr-1.5 pl-1 hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent">
      <AgentMark name={agent} size="sm" />
      <select
        aria-label="Agent"
        value={agent}
        onChange={(event) => onPick(event.target.value)}
        className="field-sizing-content min-w-0 appearance-none truncate bg-transparent pr-4 text-xs font-medium text-ink-2 outline-none"
      >
        {!isKnown && <option value={agent}>{agent}</option>}
        {enabled.map(({ name, displayName }) => (
          <option key={name} value={name} className="bg-panel text-ink">
            {displayName}
          </option>
        ))}
      </select>
      <ChevronsUpDown aria-hidden className="pointer-events-none absolute right-1.5 size-3 text-ink-3" />
    </span>
  );
}
