/** How lists that open above the page look. */
export const POPUP =
  "max-h-[min(22rem,var(--available-height))] min-w-(--anchor-width) max-w-[min(26rem,var(--available-width))] overflow-y-auto overscroll-contain rounded-lg border border-line bg-panel p-1 shadow-float outline-none";

/** One line of such a list: a tick, then the words. */
export const POPUP_ITEM =
  "grid cursor-default grid-cols-[1rem_1fr] items-center gap-1.5 rounded-md py-1 pr-3 pl-1.5 text-sm outline-none select-none data-highlighted:bg-hover";
