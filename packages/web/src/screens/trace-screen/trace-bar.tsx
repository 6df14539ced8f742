import { showCount } from "@retinue/core/show/measures";
import { CircleX, Maximize2, ZoomIn, ZoomOut } from "lucide-react";
import { Button, KeyHint, Segmented, Tooltip } from "../../ui/controls.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { useNarrow } from "../../ui/use-narrow.ts";
import { PlayheadToggle } from "./playhead/playhead-bar.tsx";
import type { useLook } from "./use-look.ts";
import type { TraceIndex } from "./use-trace.ts";

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
      <SearchBox
        label="Filter runs by agent or text"
        does="Filter runs"
        around="min-w-24 flex-1 sm:max-w-64 sm:min-w-36"
        value={look.filter}
        onChange={look.setFilter}
      />
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

type ZoomButtonProps = { words: string; icon: typeof ZoomIn; disabled?: boolean; onClick: () => void };

function ZoomButton({ words, icon: Icon, disabled = false, onClick }: ZoomButtonProps) {
  return (
    <Tooltip words={words}>
      <Button kind="quiet" aria-label={words} disabled={disabled} onClick={onClick}>
        <Icon className="size-4" />
      </Button>
    </Tooltip>
  );
}
