import { type KeyboardEvent, useState } from "react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { attempt, tell } from "../../../ui/toast.tsx";
import { useChatView } from "../chat-view.ts";

/** A word to a run while it works; it reads it before its next turn. */
export function SteerBox({ runId, name }: { runId: string; name: string }) {
  const view = useChatView();
  const [text, setText] = useState("");
  const close = () => view.steering.set(null);
  const send = async () => {
    const words = text.trim();
    if (!words) return;
    const isSent = await attempt(() => api.post(`/api/runs/${runId}/steer`, { text: words }));
    if (!isSent) return;
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
        // It appears because the person asked for it.
        ref={(input) => input?.focus({ preventScroll: true })}
        aria-label={`Message to ${name}`}
        placeholder={`Tell ${name} something before its next turn…`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-2 text-sm placeholder:text-ink-3"
      />
      <Button small kind="primary" disabled={!text.trim()} onClick={send}>
        Steer
      </Button>
      <Button small kind="quiet" onClick={close}>
        Cancel
      </Button>
    </div>
  );
}
