import type { ApprovalView } from "@retinue/core/schema/api/approval";
import { createContext } from "react";
import { api } from "../../data/client.ts";
import type { SessionStore } from "../../live/session-store.ts";
import { Signal } from "../../live/signal.ts";
import { useRequired } from "../../live/use-required.ts";
import { attempt } from "../../ui/toast.tsx";

/** What the person said to a run while it worked. */
export type Said = { id: string; runId: string; text: string };

/** Calls that wait for the person, by the run that asks. */
export type Asks = ReadonlyMap<string, readonly ApprovalView[]>;

const NO_CHOICES: ReadonlyMap<string, boolean> = new Map();
const MOST_KEPT = 20;
const kept = new Map<string, ChatView>();

/** How the person looks at one session: what is opened, where the cursor is, what was said. It outlives the page's visit. */
export class ChatView {
  /** Runs and groups that the person opened or closed, by their row's key. */
  readonly opened = new Signal(NO_CHOICES);
  /** The same of the lists of what a run did. */
  readonly details = new Signal(NO_CHOICES);
  /** Key of the row that the keyboard is at. */
  readonly current = new Signal<string | null>(null);
  readonly said = new Signal<readonly Said[]>([]);
  readonly asks = new Signal<Asks>(new Map());
  /** The run that the person is asked whether to stop, with all below it. */
  readonly stopping = new Signal<string | null>(null);
  readonly steering = new Signal<string | null>(null);
  /** What a root run was last seen to say: it stands there until the whole answer is loaded. */
  readonly lastSaid = new Map<string, string>();

  open(key: string, isOpen: boolean): void {
    this.opened.set(new Map(this.opened.value).set(key, isOpen));
  }

  detail(runId: string, isOpen: boolean): void {
    this.details.set(new Map(this.details.value).set(runId, isOpen));
  }

  say(runId: string, text: string): void {
    const id = this.said.value.length.toString();
    this.said.set([...this.said.value, { id, runId, text }]);
  }
}

/** The view of a session, the one from before if there was one. */
export function findView(sessionId: string): ChatView {
  const view = kept.get(sessionId) ?? new ChatView();
  kept.delete(sessionId);
  kept.set(sessionId, view);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return view;
}

/** Gives the view to everything below. */
export const ChatViewScope = createContext<ChatView | null>(null);

/** How the person looks at the session around this part of the page. */
export function useChatView(): ChatView {
  return useRequired(ChatViewScope, "chat");
}

/** Stops a run; where others below it would stop with it, the person is asked first. */
export function askToStop(runId: string, store: SessionStore, view: ChatView): void {
  if (liveBelow(runId, store) > 0) view.stopping.set(runId);
  else void stopRun(runId);
}

/** Stops a run and everything below it. */
export function stopRun(runId: string): Promise<boolean> {
  return attempt(() => api.post(`/api/runs/${runId}/cancel`));
}

/** How many runs below a run have not ended. */
export function liveBelow(runId: string, store: SessionStore): number {
  let count = 0;
  for (const id of store.children(runId).value) {
    if (store.run(id)?.value.endedAtMs === null) count++;
    count += liveBelow(id, store);
  }
  return count;
}
