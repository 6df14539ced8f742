import { stripVTControlCharacters } from "node:util";

/** Text that cannot steer a terminal: no escape codes, no controls but line ends and tabs, no turned-around order. */
export function stripControls(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "");
}

/** The same, but nothing is hidden: controls are written as escapes. For what a person approves. */
export function escapeControls(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, escaped);
}

/** Plain text on one line of at most `limit` characters. */
export function cutToLine(text: string, limit: number): string {
  const line = stripControls(text).replaceAll(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= limit ? line : `${characters.slice(0, limit - 1).join("")}…`;
}

/** JSON that cannot steer a terminal and parses to the same value: controls are written as escapes. */
export function writeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    escaped,
  );
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML, in elements and in quoted attributes alike; characters that no document may hold are left out. */
export function escapeHtml(text: string): string {
  return cleanText(text).replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? "");
}

/** Text as Markdown that means nothing but itself. */
export function escapeMarkdown(text: string): string {
  return cleanText(text)
    .replace(/\s+/g, " ")
    .replace(/[\\`*_[\]<>|#~]/g, "\\$&")
    .replace(/^(\s*)([-+>]|\d+[.)])(?=\s)/, "$1\\$2");
}

/** Without control characters, halves of pairs, and marks that turn the direction of text. */
function cleanText(text: string): string {
  return text.toWellFormed().replace(/(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\p{Noncharacter_Code_Point}]/gu, "");
}
