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
