/** The beginning of a text, which is never half of a character. */
export function cutText(text: string, chars: number): string {
  return text.length <= chars ? text : text.slice(0, chars).toWellFormed();
}
