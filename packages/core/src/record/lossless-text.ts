/**
 * SQLite keeps TEXT as UTF-8, which has no lone surrogates: they would come back as U+FFFD. Only a text that holds one
 * (or that happens to begin with the mark) is escaped; all others are stored as they are and stay readable and searchable.
 */
const MARK = "\u0001\\u:";
const NEEDS_ESCAPE = /\\|[\uD800-\uDFFF]/gu;
const ESCAPED = /\\(?:\\|u([0-9a-f]{4}))/g;

/** The form in which a text is stored. */
export function encodeText(text: string): string {
  if (text.isWellFormed() && !text.startsWith(MARK)) return text;
  return MARK + text.replace(NEEDS_ESCAPE, escapeUnit);
}

/** The text that was given to `encodeText`. */
export function decodeText(stored: string): string {
  if (!stored.startsWith(MARK)) return stored;
  return stored.slice(MARK.length).replace(ESCAPED, (_, unit?: string) => {
    return unit === undefined ? "\\" : String.fromCharCode(Number.parseInt(unit, 16));
  });
}

function escapeUnit(unit: string): string {
  return unit === "\\" ? "\\\\" : `\\u${unit.charCodeAt(0).toString(16)}`;
}
