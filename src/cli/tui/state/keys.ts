/** A key as the state knows it: what it means, not which bytes it was. */
export type KeyName =
  | "enter"
  | "newline"
  | "tab"
  | "shift-tab"
  | "esc"
  | "up"
  | "down"
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "home"
  | "end"
  | "pageup"
  | "pagedown"
  | "backspace"
  | "delete"
  | "delete-word"
  | "delete-to-start"
  | "delete-to-end"
  | "open"
  | "interrupt"
  | "end-of-input"
  | "redraw";

/** A key press: a named key, or text that was typed or pasted. */
export type Key = { readonly name: KeyName } | { readonly name: "text"; readonly text: string };

/** What the terminal library tells of a key. */
export type RawKey = Partial<
  Record<
    | "upArrow"
    | "downArrow"
    | "leftArrow"
    | "rightArrow"
    | "pageDown"
    | "pageUp"
    | "home"
    | "end"
    | "return"
    | "escape"
    | "ctrl"
    | "shift"
    | "tab"
    | "backspace"
    | "delete"
    | "meta",
    boolean
  >
>;

const CONTROLS: Readonly<Record<string, KeyName>> = {
  a: "home",
  e: "end",
  b: "left",
  f: "right",
  p: "up",
  n: "down",
  w: "delete-word",
  u: "delete-to-start",
  k: "delete-to-end",
  o: "open",
  c: "interrupt",
  d: "end-of-input",
  j: "newline",
  l: "redraw",
};

/** The keys in what came from the terminal at once; fast typing and terminals without bracketed paste send several. */
export function readKeys(input: string, key: RawKey): Key[] {
  const named = nameOf(input, key);
  if (named) return [{ name: named }];
  if (key.ctrl || key.meta || input === "") return [];
  const text = cleanPaste(input);
  // One line and its end came together: typed ahead. Line ends within the text: a paste, which sends nothing.
  if (text.endsWith("\n") && !text.slice(0, -1).includes("\n"))
    return [
      ...(text.length > 1 ? [{ name: "text", text: text.slice(0, -1) } as const] : []),
      { name: "enter" },
    ];
  return text === "" ? [] : [{ name: "text", text }];
}

/** Pasted text as it goes into the editor: line ends of every kind become one, and nothing in it steers the terminal. */
export function cleanPaste(pasted: string): string {
  return pasted
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll("\t", "  ")
    .replaceAll(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "");
}

function nameOf(input: string, key: RawKey): KeyName | undefined {
  if (key.return) return key.meta || key.shift ? "newline" : "enter";
  if (input === "\n") return "newline";
  if (key.escape) return "esc";
  if (key.tab) return key.shift ? "shift-tab" : "tab";
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.leftArrow) return key.meta || key.ctrl ? "word-left" : "left";
  if (key.rightArrow) return key.meta || key.ctrl ? "word-right" : "right";
  if (key.pageUp) return "pageup";
  if (key.pageDown) return "pagedown";
  if (key.home) return "home";
  if (key.end) return "end";
  if (key.backspace) return key.meta ? "delete-word" : "backspace";
  if (key.delete) return "delete";
  if (key.ctrl) return CONTROLS[input];
  if (key.meta) return input === "b" ? "word-left" : input === "f" ? "word-right" : undefined;
  return undefined;
}
