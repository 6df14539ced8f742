import { showCount } from "@retinue/core/show/measures";
import { CircleX, Maximize2, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { Button, KeyHint, SearchField, Segmented, Tooltip } from "../../ui/controls.tsx";
import { useNarrow } from "../../ui/use-narrow.ts";
import { PlayheadToggle } from "./playhead/playhead-bar.tsx";
import type { TraceIndex } from "./trace-index.ts";
import type { useLook } from "./use-look.ts";

const VIEWS = [
  { value: "tree", name: "Tree" },
  { value: "lanes", name: "Lanes" },
] as const;

/** What can be done with the drawing. */
export function TraceBar({ look, index }: { look: ReturnType<typeof useLook>; index: TraceIndex }) {
  const { failures } = index;
  const isNarrow = useNarrow();
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-1.5 border-b border-line bg-panel px-4 py-1.5">
      <Segmented label="View" value={look.view} choices={VIEWS} onChange={look.showView} />
      <FilterBox value={look.filter} onChange={look.setFilter} />
      {failures.length > 0 && (
        <Button kind="danger" onClick={look.failure}>
          <CircleX aria-hidden className="size-3.5" />
          {isNarrow
            ? failures.length
            : failures.length === 1
              ? "Go to the failure"
              : `First of ${showCount(failures.length, "failure")}`}
          {isNarrow ? <span className="sr-only"> failures, go to the first</span> : <KeyHint keys="f" />}
        </Button>
      )}
      <PlayheadToggle />
      {(!isNarrow || look.view === "lanes") && (
        <div className="ml-auto flex items-center gap-0.5">
          <span className="figures mr-1 text-2xs text-ink-3">
            {look.zoom > 1 && `${look.zoom.toFixed(1)}×`}
          </span>
          <ZoomButton words="Farther (-)" onClick={look.zoomOut} disabled={look.zoom <= 1} icon={ZoomOut} />
          <ZoomButton words="Closer (+)" onClick={look.zoomIn} icon={ZoomIn} />
          <ZoomButton
            words="Fit everything (0)"
            onClick={look.fit}
            disabled={look.zoom <= 1}
            icon={Maximize2}
          />
        </div>
      )}
    </div>
  );
}

function ZoomButton({
  words,
  icon: Icon,
  disabled = false,
  onClick,
}: {
  words: string;
  icon: typeof ZoomIn;
  disabled?: boolean;
  onClick: () => void;
}) {
  return (
    <Tooltip words={words}>
      <Button kind="quiet" aria-label={words} disabled={disabled} onClick={onClick}>
        <Icon className="size-4" />
      </Button>
    </Tooltip>
  );
}

const WAIT_MS = 150;

function FilterBox({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // A layout effect, because a page that is left is only hidden until the next one is loaded.
  useLayoutEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), WAIT_MS);
    return () => clearTimeout(timer);
  });
  useShortcuts([{ keys: "/", does: "Filter runs", act: () => field.current?.focus() }]);
  return (
    <SearchField
      around="min-w-24 flex-1 sm:max-w-64 sm:min-w-36"
      ref={field}
      aria-label="Filter runs by agent or text"
      placeholder="Filter by agent or text"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        if (text === "") field.current?.blur();
        else setText("");
      }}
      className="pr-2"
    />
  );
}
