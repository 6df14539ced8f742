import { walkRuns } from "@retinue/core/show/walk-runs";
import { ChevronDown, ChevronRight, ChevronsDownUp, ChevronsUpDown } from "lucide-react";
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { actOnKey, type KeyActs, useShortcuts } from "../frame/shortcuts.ts";

type Nested<Node> = { readonly children: readonly Node[] };

/** A node of a tree as a row. */
export type FoldedRow<Node> = {
  readonly node: Node;
  readonly id: string;
  /** What it is below; null for roots. */
  readonly parentId: string | null;
  /** Roots are 1. */
  readonly level: number;
  /** Null if nothing is below it. */
  readonly isExpanded: boolean | null;
  /** Its place among its siblings, from 1, and how many they are. */
  readonly place: number;
  readonly siblings: number;
  /** It is here only because something below it is wanted. */
  readonly isFaint: boolean;
};

/** Nodes that fit, and (with true) those above them that do not. */
export function keepFitting<Node extends Nested<Node>>(
  roots: readonly Node[],
  fits: (node: Node) => boolean,
): Map<Node, boolean> {
  const kept = new Map<Node, boolean>();
  for (const node of [...walkRuns(roots)].reverse()) {
    if (fits(node)) kept.set(node, false);
    else if (node.children.some((child) => kept.has(child))) kept.set(node, true);
  }
  return kept;
}

type DrawnTree<Node> = {
  findId: (node: Node) => string;
  /** The nodes that are wanted with the way to them; null for all. */
  kept: ReadonlyMap<Node, boolean> | null;
  /** What is kept is shown whatever is collapsed. */
  isOpened?: boolean;
};

/** The rows in the order they are drawn; without recursion, since a chain may be deep. */
export function flattenTree<Node extends Nested<Node>>(
  roots: readonly Node[],
  collapsed: ReadonlySet<string>,
  { findId, kept, isOpened = false }: DrawnTree<Node>,
): FoldedRow<Node>[] {
  const shown = (nodes: readonly Node[]) => (kept ? nodes.filter((node) => kept.has(node)) : nodes);
  const makeRows = (nodes: readonly Node[], level: number, parentId: string | null) =>
    shown(nodes).map((node, index, siblings): FoldedRow<Node> => {
      const id = findId(node);
      const isOpen = (kept !== null && isOpened) || !collapsed.has(id);
      return {
        node,
        id,
        parentId,
        level,
        isExpanded: shown(node.children).length === 0 ? null : isOpen,
        place: index + 1,
        siblings: siblings.length,
        isFaint: kept?.get(node) ?? false,
      };
    });
  const rows: FoldedRow<Node>[] = [];
  const stack = makeRows(roots, 1, null).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    if (!row.isExpanded) continue;
    for (const child of makeRows(row.node.children, row.level + 1, row.id).reverse()) stack.push(child);
  }
  return rows;
}

/** The rows that are shown of a tree, and what folds them. */
export type FoldedTree<Node extends Nested<Node>> = ReturnType<typeof useFolding<Node>>;

/** Keeps which nodes of a tree are collapsed. `view` must be the same object as long as nothing in it changes. */
export function useFolding<Node extends Nested<Node>>(roots: readonly Node[], view: DrawnTree<Node>) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => flattenTree(roots, collapsed, view), [roots, collapsed, view]);
  const places = useMemo(() => new Map(rows.map(({ id }, index) => [id, index])), [rows]);
  const isAllOpen = collapsed.size === 0;
  const fold = useCallback(
    (id: string, isCollapsed: boolean) =>
      setCollapsed((before) => (isCollapsed ? new Set(before).add(id) : without(before, [id]))),
    [],
  );
  return {
    rows,
    /** Where the row of a node is; undefined while it is hidden. */
    findPlace: (id: string | null) => places.get(id ?? ""),
    /** The same function each time, so that rows are drawn again only when something about them changed. */
    fold,
    /** Opens all of these. */
    uncover: (ids: readonly string[]) => setCollapsed((before) => without(before, ids)),
    isAllOpen,
    foldAll: () => {
      const parents = [...walkRuns(roots)].filter(({ children }) => children.length > 0);
      setCollapsed(new Set(isAllOpen ? parents.map(view.findId) : []));
    },
  };
}

function without(ids: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> {
  const left = new Set(ids);
  for (const id of gone) left.delete(id);
  return left.size === ids.size ? ids : left;
}

type TreeKeysOptions<Node extends Nested<Node>> = {
  tree: FoldedTree<Node>;
  cursorId: string | null;
  scroller: RefObject<HTMLElement | null>;
  /** The first step goes to the row that the cursor is at, and not past it. */
  isAway: () => boolean;
  onGo: (row: FoldedRow<Node>, place: number) => void;
  onExpand: (row: FoldedRow<Node>) => void;
  /** Whether expanding a row would show more of it. */
  hasMore: (row: FoldedRow<Node>) => boolean;
  onEnter: (row: FoldedRow<Node>) => void;
  /** What the help calls a row, and opening one. */
  words: { row: string; open: string };
};

/** Moves through a tree by keyboard: letters anywhere on the page, arrows while a row has the focus. */
export function useTreeKeys<Node extends Nested<Node>>(options: TreeKeysOptions<Node>) {
  const { tree, cursorId, scroller, isAway, onGo, onExpand, hasMore, onEnter, words } = options;
  const at = tree.findPlace(cursorId) ?? 0;
  const row = tree.rows[at];
  const goTo = (wanted: number) => {
    const place = Math.min(tree.rows.length - 1, Math.max(0, wanted));
    const next = tree.rows[place];
    if (next) onGo(next, place);
  };
  const step = (by: number) => goTo(isAway() ? at : at + by);
  const close = () => {
    if (row?.isExpanded) tree.fold(row.id, true);
    else if (row) goTo(tree.findPlace(row.parentId) ?? at);
  };
  const open = () => {
    if (row?.isExpanded && !hasMore(row)) goTo(at + 1);
    else if (row) onExpand(row);
  };
  useShortcuts([
    { keys: "j", does: `Next ${words.row}`, act: () => step(1) },
    { keys: "k", does: `Previous ${words.row}`, act: () => step(-1) },
    { keys: "l", does: words.open, act: open },
    { keys: "h", does: "Close the branch, or go to the parent", act: close },
  ]);
  const acts: KeyActs = [
    ["ArrowDown", () => step(1)],
    ["ArrowUp", () => step(-1)],
    ["ArrowRight", open],
    ["ArrowLeft", close],
    ["PageDown", () => step(countRows(scroller))],
    ["PageUp", () => step(-countRows(scroller))],
    ["Home", () => goTo(0)],
    ["End", () => goTo(tree.rows.length - 1)],
    ["Enter", () => void (row && onEnter(row))],
    [" ", () => void (row && (row.isExpanded ? tree.fold(row.id, true) : onExpand(row)))],
  ];
  const onKeyDown = (event: KeyboardEvent) => {
    const isRow = event.target instanceof HTMLElement && event.target.dataset.run !== undefined;
    if (isRow) actOnKey(event, acts);
  };
  return { row, onKeyDown };
}

/** So many rows fit into the block, less one to know where one was. */
function countRows({ current }: RefObject<HTMLElement | null>): number {
  return Math.max(1, Math.floor((current?.clientHeight ?? 320) / 32) - 2);
}

/** Puts the focus on the element of a run, now or as soon as it is drawn: what is out of sight has none yet. */
export function useRovingFocus(scroller: RefObject<HTMLElement | null>): (runId: string) => void {
  const wanted = useRef<string | null>(null);
  const take = () => {
    if (wanted.current === null) return;
    const name = CSS.escape(wanted.current);
    const found = scroller.current?.querySelector<HTMLElement>(`[data-run="${name}"]`);
    if (!found) return;
    wanted.current = null;
    found.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (isFree(scroller)) take();
    else wanted.current = null;
  });
  return (runId) => {
    wanted.current = runId;
    take();
  };
}

/** Whether the focus may be moved without being asked for: it is among the rows, or on nothing but the page or screen. */
export function isFree(scroller: RefObject<HTMLElement | null>): boolean {
  const { activeElement } = document;
  const isNowhere = activeElement === document.body || activeElement?.id === "screen";
  return isNowhere || (scroller.current?.contains(activeElement) ?? false);
}

const FOLD = "grid size-6 place-items-center rounded hover:bg-hover hover:text-ink";

/** What folds a row by pointer; its place stays empty where nothing is below. */
export function FoldButton({ isExpanded, onToggle }: { isExpanded: boolean | null; onToggle: () => void }) {
  const Chevron = isExpanded ? ChevronDown : ChevronRight;
  return (
    <span className="w-6 shrink-0">
      {isExpanded !== null && (
        <button
          type="button"
          tabIndex={-1}
          aria-label={isExpanded ? "Collapse" : "Expand"}
          className={`${FOLD} text-ink-3`}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <Chevron className="size-3.5" />
        </button>
      )}
    </span>
  );
}

type FoldAllButtonProps<Node extends Nested<Node>> = { tree: FoldedTree<Node>; tabIndex?: number };

/** Collapses or opens all branches. */
export function FoldAllButton<Node extends Nested<Node>>({ tree, tabIndex }: FoldAllButtonProps<Node>) {
  const Icon = tree.isAllOpen ? ChevronsDownUp : ChevronsUpDown;
  return (
    <button
      type="button"
      tabIndex={tabIndex}
      aria-label={tree.isAllOpen ? "Collapse all" : "Expand all"}
      onClick={tree.foldAll}
      className={FOLD}
    >
      <Icon className="size-3.5" />
    </button>
  );
}
