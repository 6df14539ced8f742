import type { Clock } from "../budget/clock.ts";
import type { ChangeKind } from "../schema/result.ts";
import { combineChanges } from "../schema/subtree.ts";
import { nameForRun } from "../tools/name-for-run.ts";

/**
 * Who made or changed a file last, with all its ancestors; a sibling's file is not this run's deliverable. The moment is
 * monotonic milliseconds; one before a crash is less than every moment of this process.
 */
export type Claim = {
  line: readonly string[];
  moment: number;
  /** All that became of it so far and by whom, the oldest first; what one run did in a row stands there once. */
  changes: readonly FileChanged[];
};
export type Claims = ReadonlyMap<string, Claim>;

type FileChanged = { readonly line: readonly string[]; readonly kind: ChangeKind };

/** The claim on a file after one more change of it. */
export function claimFile(
  before: Claim | undefined,
  { line, kind, moment }: FileChanged & { moment: number },
): Claim {
  const changes = [...(before?.changes ?? [])];
  const isSame = changes.at(-1)?.line.at(-1) === line.at(-1);
  const net = combineChanges(isSame ? changes.pop()?.kind : undefined, kind);
  return { line, moment, changes: net ? [...changes, { line, kind: net }] : changes };
}

/** What of a run says where it keeps its files. */
type TakingRun = {
  readonly runId: string;
  readonly line: readonly string[];
  readonly session: { readonly claims: Map<string, Claim> };
  readonly host: { readonly clock: Pick<Clock, "monotonicMs"> };
};

/** Where a run keeps a file: at this path, which is its own from now on, or, if another run has that, at one beside it. */
export function takePath({ runId, line, session, host }: TakingRun, path: string): string {
  const { claims } = session;
  const claim = claims.get(path);
  if (claim && !claim.line.includes(runId)) return nameForRun(path, runId);
  if (!claim) claims.set(path, { line, moment: host.clock.monotonicMs(), changes: [] });
  return path;
}
