import type { EarlierCall } from "../../../tools/tool.ts";
import { findFetched, findUnread, gatherNames } from "./find-fetched.ts";
import { findLost, type PlannedCommand } from "./find-lost.ts";
import { type Hazards, readHazards, type Unread } from "./read-hazards.ts";

const MAX_NAMED = 5;

/**
 * Why a person should confirm a command: it loses what git does not have, or runs text that nobody could read before,
 * which an earlier command may have brought. Null if there is no such reason, as for nearly all commands.
 */
export async function confirmCommand(
  planned: PlannedCommand,
  earlier: readonly EarlierCall<{ command: string }>[] = [],
): Promise<string | null> {
  const hazards = readHazards(planned.command, gatherNames(earlier));
  const fetched = await findFetched(hazards, planned, earlier);
  const unread = await findUnread(hazards, planned);
  const reasons = [
    ...hazards.runs.map(describeUnread),
    ...(unread.length > 0 ? [describeUnread({ by: "decoding", from: unread })] : []),
    ...describeFetched(fetched),
    ...(await describeLosses(hazards, planned)),
  ];
  return reasons.join("; ") || null;
}

function describeUnread({ by, from }: Unread): string {
  const named = nameSome(from);
  if (by === "download") return `it runs what it downloads, unread, from ${named}`;
  if (by === "package") return `it installs a package, which may run what nobody has read, from ${named}`;
  return `it runs a text that cannot be read before (${named})`;
}

function describeFetched({ files, from }: Awaited<ReturnType<typeof findFetched>>): string[] {
  if (files.length === 0) return [];
  return [`it runs what an earlier command brought, unread, from ${nameSome(from)}: ${nameSome(files)}`];
}

async function describeLosses(hazards: Hazards, planned: PlannedCommand): Promise<string[]> {
  const { deletes, empties, moves, discards, drops } = hazards;
  const losses: string[] = [];
  if (drops.length > 0) losses.push(`it throws away what git keeps apart (${nameSome(drops)})`);
  const unknown = hazards.deletesUnknown.map((program) => `by ${program}`);
  if (unknown.length > 0)
    return [...losses, `it deletes files that are known only when it runs (${nameSome(unknown)})`];
  if (deletes.length + empties.length + moves.length + discards.length === 0) return losses;
  const { untracked, changed } = await findLost(hazards, planned);
  if (untracked.length > 0)
    losses.push(`it deletes files that git does not track and cannot bring back: ${nameSome(untracked)}`);
  if (changed.length > 0) losses.push(`it loses changes that are not committed: ${nameSome(changed)}`);
  return losses;
}

function nameSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return `${names.slice(0, MAX_NAMED).join(", ")}${more}`;
}
