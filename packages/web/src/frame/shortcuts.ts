import { type KeyboardEvent as KeyPress, useEffect, useRef } from "react";

/** What a key does; pairs such as `g r` are pressed one after the other. */
type Shortcut = {
  keys: string;
  does: string;
  act: () => void;
  /** Whatever it does, holding the key down does it only once, and nothing that lies over the page is open. */
  isAnswer?: boolean;
};

const PAIR_MS = 1_200;
const registered = new Set<readonly Shortcut[]>();
let first: { key: string; atMs: number } | null = null;

/** Shortcuts of a part of the page, while it is there. Plain keys typed into a field are the field's own. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    const list: Shortcut[] = current.current.map((shortcut, index) => ({
      ...shortcut,
      act: () => current.current[index]?.act(),
    }));
    registered.add(list);
    return () => void registered.delete(list);
  }, []);
}

/** Everything that keys do right now, for the help. */
export function allShortcuts(): Shortcut[] {
  return [...registered].flat();
}

/** What keys do while a part of the page has the focus. */
export type KeyActs = readonly (readonly [key: string, act: () => void])[];

/** Does what a key means to the part of the page that has the focus. Together with Ctrl, Alt or Cmd it means something else. */
export function actOnKey(event: KeyPress, acts: KeyActs): void {
  const [, act] = acts.find(([key]) => key === event.key) ?? [];
  if (!act || event.metaKey || event.ctrlKey || event.altKey) return;
  event.preventDefault();
  act();
}

/** Listens for the whole page. */
export function listenForShortcuts(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const isMod = event.metaKey || event.ctrlKey;
    if (event.defaultPrevented || event.altKey || (!isMod && isTyping(event.target))) return;
    const key = isMod ? `Mod-${event.shiftKey ? "Shift-" : ""}${event.key.toLowerCase()}` : event.key;
    const isPair = first !== null && event.timeStamp - first.atMs < PAIR_MS;
    const shortcut = (isPair && find(`${first?.key} ${key}`)) || find(key);
    first = key.length === 1 ? { key, atMs: event.timeStamp } : null;
    if (!shortcut || (shortcut.isAnswer && (event.repeat || isCovered()))) return;
    event.preventDefault();
    first = null;
    shortcut.act();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

/** Whether a key at this moment would end a pair: handlers of single keys must leave it alone. */
export function isPairBegun(atMs: number): boolean {
  if (first === null || atMs - first.atMs >= PAIR_MS) return false;
  const { key } = first;
  return allShortcuts().some(({ keys }) => keys.startsWith(`${key} `));
}

/** The one that came last wins: what lies on top of the page comes before what is below. */
function find(keys: string): Shortcut | undefined {
  return allShortcuts().findLast((shortcut) => shortcut.keys === keys);
}

function isCovered(): boolean {
  return document.querySelector("[role=dialog], [role=alertdialog]") !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
