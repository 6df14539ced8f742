/** What every marker begins with; no secret may contain it, so that markers are never taken apart. */
export const MARKER_START = "[redacted:";

/** What stands in the place of a secret. */
export function marker(kind: string): string {
  return `${MARKER_START}${kind}]`;
}
