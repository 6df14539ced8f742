/** Characters of a tool result that go into the conversation before the rest becomes an artefact. */
export const MAX_RESULT_CHARS = 30_000;

/** The beginning and end of a long text with a note on what is missing and where the whole is. */
export function excerpt(text: string, limit: number, where: string): string {
  if (text.length <= limit) return text;
  const head = cutAt(text, Math.floor(limit * 0.7));
  const tail = text.slice(text.length - Math.floor(limit * 0.2));
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters left out; ${where} …]\n${tail}`;
}

/** The first `limit` characters, never ending inside a surrogate pair. */
export function cutAt(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}
