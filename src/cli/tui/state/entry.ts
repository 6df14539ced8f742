/** One piece of the conversation as it is shown. Entries never change in place, so that their lines can be kept. */
export type Entry =
  /** What the person wrote; `to` names the run that a message steers. */
  | {
      readonly kind: "person";
      readonly text: string;
      readonly to?: {
        readonly runId: string;
        readonly agent: string;
        readonly fate: "sent" | "read" | "unread";
      };
    }
  | {
      readonly kind: "agent";
      readonly runId: string;
      readonly agent: string;
      readonly text: string;
      readonly streaming: boolean;
    }
  /** A tool call of the first agent. */
  | { readonly kind: "call"; readonly runId: string; readonly callId: string; readonly text: string }
  /** How a task ended. */
  | { readonly kind: "ended"; readonly good: boolean; readonly text: string }
  | { readonly kind: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string }
  /** What a slash command has to say; its lines stand as they are. */
  | { readonly kind: "output"; readonly text: string };

/** Older entries than this many are forgotten on the screen; the record has them. */
const MOST_ENTRIES = 1_000;
/** Streamed text beyond this is not shown until the turn has ended. */
export const MOST_STREAMED = 200_000;

/** The entries with one more. */
export function withEntry(entries: readonly Entry[], entry: Entry): readonly Entry[] {
  return [...entries.slice(-(MOST_ENTRIES - 1)), entry];
}

/** The entries with the last one that fits replaced; unchanged if none does. */
export function withReplaced(
  entries: readonly Entry[],
  fits: (entry: Entry) => boolean,
  change: (entry: Entry) => Entry | null,
): readonly Entry[] {
  const index = entries.findLastIndex(fits);
  const found = entries[index];
  if (!found) return entries;
  const changed = change(found);
  return [...entries.slice(0, index), ...(changed ? [changed] : []), ...entries.slice(index + 1)];
}
