/** A text for a header or from one: line breaks and control characters have no place in it. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** Every Message-ID in a header's value, with its angle brackets. */
export function messageIdsIn(value: string | undefined): string[] {
  return value?.match(/<[^<>\s]{1,900}>/g) ?? [];
}
