import { ArrowUp, LoaderCircle } from "lucide-react";
import { type KeyboardEvent, type ReactNode, type Ref, useRef, useState } from "react";
import { useDraft } from "../../../live/use-draft.ts";
import { Button } from "../../../ui/button.tsx";
import { join } from "../../../ui/join.ts";
import { tellFailure } from "../../../ui/toast.tsx";

const MOST_CHARS = 200_000;

/** Where the person writes. Text that could not be sent stays where it is. */
export function Composer({
  place,
  placeholder,
  onSend,
  refusal = null,
  roomy = false,
  children,
  ref,
}: {
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
}) {
  const [text, setText] = useDraft(place);
  const latest = useRef(text);
  latest.current = text;
  const [isSending, setSending] = useState(false);
  const isReady = text.trim() !== "" && !isSending && refusal === null;
  const send = async () => {
    if (!isReady) return;
    setSending(true);
    try {
      await onSend(text.trim());
      // What was typed meanwhile is the beginning of the next message.
      const { current: now } = latest;
      setText(now.startsWith(text) ? now.slice(text.length).trimStart() : now);
    } catch (failure) {
      tellFailure(failure);
    }
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      className="rounded-xl border border-line-strong bg-panel shadow-float focus-within:border-accent"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
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
