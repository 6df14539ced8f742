import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { api } from "../../../api/client.ts";
import { useDraft } from "../../../live/use-draft.ts";
import { Button } from "../../../ui/button.tsx";
import { attempt, tell } from "../../../ui/toast.tsx";
import { useChatView } from "../chat-view.ts";

/** A word to a run while it works; it reads it before its next turn. */
export function SteerBox({ runId, name, isLive }: { runId: string; name: string; isLive: boolean }) {
  const view = useChatView();
  // Kept as drafts are: the row may scroll out of the page, and back.
  const [text, setText] = useDraft(`${runId}.steer`);
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // It appears because the person asked for it.
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const close = () => view.steering.set(null);
  const send = async () => {
    const words = text.trim();
    if (!words || isSending || !isLive) return;
    setSending(true);
    const isSent = await attempt(() => api.post(`/api/runs/${runId}/steer`, { text: words }));
    setSending(false);
    if (!isSent) return;
    setText("");
    view.say(runId, words);
    tell(`${name} reads it before its next turn.`);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter" && !event.nativeEvent.isComposing) void send();
  };
  return (
    <div className="flex items-center gap-1.5">
      <input
        ref={field}
        aria-label={`Message to ${name}`}
        placeholder={`Tell ${name} something before its next turn…`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-2 text-sm placeholder:text-ink-3"
      />
      {!isLive && <span className="shrink-0 text-xs text-ink-2">It has ended meanwhile.</span>}
      <Button small kind="primary" disabled={!text.trim() || isSending || !isLive} onClick={send}>
        Steer
      </Button>
      <Button small kind="quiet" onClick={close}>
        Cancel
      </Button>
    </div>
  );
}
