import { nearLines } from "./near-lines.ts";

/** One replacement: `old` must occur exactly once, or with `all` at least once. */
export type Edit = { old: string; new: string; all?: boolean };

/** A changed text and the lines at which it was changed, or why nothing was. */
export type Applied = { ok: true; text: string; lines: number[] } | { ok: false; message: string };

const MAX_PLACES_NAMED = 10;
const BOM = "\uFEFF";

/**
 * Applies edits in order, all or none. Line ends do not matter for finding a text; what is put in takes the line ends of
 * what it replaces, or else those that the file has most. Everything else, a byte order mark too, stays as it is.
 */
export function applyEdits(text: string, edits: readonly Edit[]): Applied {
  const mark = text.startsWith(BOM) ? BOM : "";
  let body = text.slice(mark.length);
  const lines: number[] = [];
  for (const [index, edit] of edits.entries()) {
    const applied = applyOne(body, edit);
    if (!applied.ok) {
      const which = edits.length > 1 ? `edit ${index + 1} of ${edits.length}: ` : "";
      return { ok: false, message: `${which}${applied.message}` };
    }
    body = applied.text;
    lines.push(...applied.lines);
  }
  return { ok: true, text: mark + body, lines };
}

/** The line end that a text has most, `\n` if it has none. */
export function lineEndOf(text: string): "\r\n" | "\n" {
  const windows = text.split("\r\n").length - 1;
  const all = text.split("\n").length - 1;
  return windows > all - windows ? "\r\n" : "\n";
}

function applyOne(raw: string, edit: Edit): Applied {
  const text = plain(raw);
  const old = plain(edit.old.startsWith(BOM) ? edit.old.slice(1) : edit.old);
  const put = plain(edit.new.startsWith(BOM) ? edit.new.slice(1) : edit.new);
  if (old === "") return { ok: false, message: "the text to replace is empty; to make a new file use write" };
  if (old === put) return { ok: false, message: "the old text and the new one are the same" };
  const places = placesOf(text, old, edit.all === true);
  const lines = linesAt(text, places);
  if (places.length === 0)
    return { ok: false, message: `the text to replace does not occur in the file; ${nearLines(text, old)}` };
  if (places.length > 1 && !edit.all) {
    const named =
      lines.slice(0, MAX_PLACES_NAMED).join(", ") + (lines.length > MAX_PLACES_NAMED ? ", …" : "");
    return {
      ok: false,
      message: `the text to replace occurs ${places.length} times (lines ${named}); give more of what is around it, or replace every occurrence`,
    };
  }
  const toRaw = rawPositions(raw);
  const usual = lineEndOf(raw);
  let result = "";
  let done = 0;
  for (const place of places) {
    const from = toRaw(place);
    const to = toRaw(place + old.length);
    const replaced = raw.slice(from, to);
    const end = replaced.includes("\n") ? lineEndLike(replaced, usual) : usual;
    result += raw.slice(done, from) + (end === "\n" ? put : put.replaceAll("\n", "\r\n"));
    done = to;
  }
  return { ok: true, text: result + raw.slice(done), lines };
}

/** Where a text occurs; overlapping places count too unless all of them are to be replaced. */
function placesOf(text: string, wanted: string, all: boolean): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + (all ? wanted.length : 1)))
    places.push(at);
  return places;
}

/** The numbers of the lines that hold these positions, which ascend. */
function linesAt(text: string, places: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return places.map((place) => {
    for (let at = text.indexOf("\n", from); at >= 0 && at < place; at = text.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    return line;
  });
}

function plain(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function lineEndLike(replaced: string, usual: "\r\n" | "\n"): "\r\n" | "\n" {
  const ends = new Set(replaced.match(/\r?\n/g));
  if (ends.size > 1) return usual;
  return ends.has("\r\n") ? "\r\n" : "\n";
}

/** Turns positions of the text with `\n` only, asked for in ascending order, into those of the text itself. */
function rawPositions(raw: string): (position: number) => number {
  let dropped = 0;
  let next = raw.indexOf("\r\n");
  return (position) => {
    while (next >= 0 && next - dropped < position) {
      dropped++;
      next = raw.indexOf("\r\n", next + 2);
    }
    return position + dropped;
  };
}
