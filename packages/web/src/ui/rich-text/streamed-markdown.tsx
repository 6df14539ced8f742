import { ImageOff } from "lucide-react";
import type { ComponentProps, JSX, ReactNode } from "react";
import { defaultRehypePlugins, defaultRemarkPlugins, Streamdown } from "streamdown";
import { REACHABLE } from "../class-names.ts";

/** HTML inside a text is never made into elements: what is left after parsing is cleaned, and addresses are checked. */
const REHYPE = [defaultRehypePlugins.sanitize, defaultRehypePlugins.harden].filter(
  (plugin) => plugin !== undefined,
);

const REMARK = [...Object.values(defaultRemarkPlugins), keepBreaks];

const plain =
  (Tag: keyof JSX.IntrinsicElements) =>
  ({ children }: { children?: ReactNode }) => <Tag>{children}</Tag>;

/** Headings of a text stand below those of the page, whatever the text calls them. */
const heading = (className: string) => (props: ComponentProps<"h3">) => (
  <h3 className={className}>{props.children}</h3>
);
const major = heading("text-[1.05rem]!");
const minor = heading("");

/** Plain elements: how they look is said once, by the theme. */
const COMPONENTS = {
  h1: major,
  h2: major,
  h3: minor,
  h4: minor,
  h5: minor,
  h6: minor,
  ul: plain("ul"),
  ol: ({ children, start }: ComponentProps<"ol">) => <ol start={start}>{children}</ol>,
  li: plain("li"),
  blockquote: plain("blockquote"),
  hr: () => <hr />,
  inlineCode: plain("code"),
  code: plain("code"),
  pre: ({ children }: ComponentProps<"pre">) => <pre {...REACHABLE}>{children}</pre>,
  table: ({ children }: ComponentProps<"table">) => (
    <div {...REACHABLE} className="overflow-x-auto">
      <table>{children}</table>
    </div>
  ),
  thead: plain("thead"),
  tbody: plain("tbody"),
  tr: plain("tr"),
  th: plain("th"),
  td: plain("td"),
  /** The box of a to-do item, which cannot be ticked. */
  input: ({ checked }: ComponentProps<"input">) => (
    <span role="img" aria-label={checked ? "done:" : "open:"}>
      {checked ? "☑" : "☐"}{" "}
    </span>
  ),
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

/** Markdown as elements: sanitised, without pictures from anywhere, fit for text that is still growing. */
export default function StreamedMarkdown({ text, live }: { text: string; live: boolean }) {
  return (
    <Streamdown
      className="space-y-0"
      parseIncompleteMarkdown={live}
      controls={false}
      components={COMPONENTS}
      remarkPlugins={REMARK}
      rehypePlugins={REHYPE}
      linkSafety={{ enabled: false }}
    >
      {text}
    </Streamdown>
  );
}

/** A node of Markdown's syntax tree, as far as line breaks go. */
type Node = { type: string; value?: string; children?: Node[] };

/**
 * A plugin for Markdown: a line that ends in a paragraph ends on the screen, too. Agents write lists of results line by
 * line, and Markdown alone would run them together. Code and tables have their own lines and stay as they are.
 */
function keepBreaks(): (tree: Node) => void {
  return split;
}

function split(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    split(child);
    if (child.type !== "text" || !child.value?.includes("\n")) return [child];
    return child.value
      .split(/[ \t]*\n/)
      .flatMap((value, index) => [
        ...(index > 0 ? [{ type: "break" }] : []),
        ...(value === "" ? [] : [{ type: "text", value }]),
      ]);
  });
}
