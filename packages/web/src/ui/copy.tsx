import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./controls.tsx";
import { revealHidden } from "./rich-text/visible-text.ts";
import { tellFailure } from "./toast.tsx";

const STAY_MS = 1_500;

function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), STAY_MS);
    }, tellFailure);
  const icon = isCopied ? <Check className="size-3.5 text-ok" /> : <Copy className="size-3.5" />;
  return { isCopied, copy, icon };
}

/** A command or a piece of a file, to be copied. */
export function CopyText({ text }: { text: string }) {
  const { isCopied, copy, icon } = useCopy(text);
  return (
    <span className="inline-flex max-w-full items-start gap-1 rounded-md border border-line bg-raised py-0.5 pr-0.5 pl-2">
      <code className="min-w-0 py-0.5 font-mono text-xs whitespace-pre-wrap wrap-anywhere text-ink">
        {revealHidden(text)}
      </code>
      <Button kind="quiet" small aria-label={isCopied ? "Copied" : `Copy: ${text}`} onClick={copy}>
        {icon}
      </Button>
    </span>
  );
}

/** Copies a text that is shown elsewhere. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { isCopied, copy, icon } = useCopy(text);
  return (
    <Button kind="quiet" small aria-label={label} onClick={copy}>
      {icon}
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}
