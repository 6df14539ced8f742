import { ImageOff } from "lucide-react";
import { type ComponentProps, memo } from "react";
import { defaultRehypePlugins, Streamdown } from "streamdown";
import { join } from "./join.ts";

/** HTML inside a text is never made into elements: what is left after parsing is cleaned, and addresses are checked. */
const REHYPE = [defaultRehypePlugins.sanitize, defaultRehypePlugins.harden].filter(
  (plugin) => plugin !== undefined,
);

const COMPONENTS = {
  /** A picture would be fetched from wherever the text says; its description is shown instead. */
  img: ({ alt }: ComponentProps<"img">) => (
    <span className="inline-flex items-center gap-1 rounded bg-raised px-1 text-xs text-ink-2">
      <ImageOff aria-hidden className="size-3" /> {alt || "picture, not loaded"}
    </span>
  ),
  a: ({ href, children }: ComponentProps<"a">) =>
    isSafe(href) ? (
      <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
};

function isSafe(href: string | undefined): href is string {
  return href !== undefined && /^(https?:|mailto:)/i.test(href);
}

/** Text of agents as Markdown: sanitised, without pictures from anywhere, fit for text that is still growing. */
export const Markdown = memo(function Markdown({
  text,
  live = false,
  className,
}: {
  text: string;
  live?: boolean;
  className?: string;
}) {
  return (
    <div className={join("markdown min-w-0 wrap-anywhere", className)}>
      <Streamdown
        parseIncompleteMarkdown={live}
        controls={false}
        components={COMPONENTS}
        rehypePlugins={REHYPE}
        linkSafety={{ enabled: false }}
      >
        {text}
      </Streamdown>
    </div>
  );
});
