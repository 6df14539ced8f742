import { Gate } from "../budget/gate.ts";
import type { BlobStore } from "../record/blob-store.ts";
import type { Record } from "../record/record.ts";
import { createId } from "../run/create-id.ts";
import type { ChangeOpening, FileChange, FileState } from "../schema/change.ts";
import { messageOf } from "../schema/error.ts";
import type { ChangeKind } from "../schema/result.ts";
import { Shadow } from "./shadow.ts";
import { compareSnapshots, keepDifferences, type ProjectSnapshot, takeSnapshot } from "./snapshot.ts";
import { isFolder, nameChange, sameState } from "./state.ts";

/** What changes are kept with. */
export type KeeperParts = {
  record: Record;
  blobs: BlobStore;
  dataDir: string;
  /** Hides secrets, which must not reach the record even as names of files. */
  redact: (text: string) => string;
};

/** A command that is under way, and how it is told what it changed. */
export type Watched = Pick<ChangeOpening, "sessionId" | "runId" | "messageId"> & {
  found(path: string, kind: ChangeKind): void;
  /** Why some of its changes are not kept. */
  lost(why: string): void;
};

type Found = { path: string; before: FileState; after: FileState };

/** A change that is in nobody's books; `beforeChange` names the booked one that it came before. */
type Unbooked = { before: FileState; after: FileState; beforeChange?: string };

/**
 * What happened to a path between two looks besides what tools booked. Changes that were closed up to `sureSeq` had
 * happened when the second look began; of later ones that is not known, so they count only as far as they explain it,
 * and the next look takes them up again.
 */
export function unbooked(
  before: FileState,
  after: FileState,
  booked: readonly FileChange[],
  sureSeq: number,
): Unbooked[] {
  const found: Unbooked[] = [];
  let at = before;
  for (const change of booked.slice(firstAfter(before, booked))) {
    const sure = change.closedSeq !== null && change.closedSeq <= sureSeq;
    if (!sure && sameState(at, after)) return found;
    if (!sameState(at, change.before)) {
      found.push({ before: at, after: change.before, beforeChange: change.changeId });
      at = change.before;
      if (!sure && sameState(at, after)) return found;
    }
    if (change.closedSeq === null) return found;
    at = change.after;
  }
  if (!sameState(at, after)) found.push({ before: at, after });
  return found;
}

/** Changes closed while the first look was under way may be in what it saw already. */
function firstAfter(before: FileState, booked: readonly FileChange[]): number {
  const seen = booked.findLastIndex((change) => change.outcomeKnown && sameState(change.after, before));
  const starting = booked.findIndex((change) => sameState(change.before, before));
  return starting >= 0 && starting <= seen ? starting : seen + 1;
}

/**
 * Finds what commands change in one folder, by looking at all of it before and after. Each difference is booked once:
 * to the command that ends, or, when another one begins meanwhile, to the one that is under way longest. What tools
 * booked themselves in that time is theirs.
 */
export class CommandWatch {
  readonly #root: string;
  readonly #parts: KeeperParts;
  readonly #oneByOne = new Gate(1);
  readonly #running = new Set<Watched>();
  #shadow: Promise<Shadow> | undefined;
  #last: { snapshot: ProjectSnapshot; closedSeq: number } | undefined;

  constructor(root: string, parts: KeeperParts) {
    this.#root = root;
    this.#parts = parts;
  }

  /** Does the work, which is a command's, and books what it changed. */
  async around<Value>(command: Watched, work: () => Promise<Value>): Promise<Value> {
    await this.#oneByOne.run(async () => {
      await this.#look([...this.#running][0], command);
      this.#running.add(command);
    });
    try {
      return await work();
    } finally {
      await this.#oneByOne.run(async () => {
        await this.#look(command, command);
        this.#running.delete(command);
        if (this.#running.size === 0) this.#last = undefined;
      });
    }
  }

  async close(): Promise<void> {
    const shadow = await this.#shadow?.catch(() => undefined);
    await shadow?.close();
  }

  /** Takes a snapshot and books what differs from the one before. Never rejects: who loses something by it is told. */
  async #look(owner: Watched | undefined, loser: Watched): Promise<void> {
    const { record, blobs, dataDir } = this.#parts;
    const last = this.#last;
    try {
      this.#shadow ??= Shadow.open(dataDir, this.#root);
      const shadow = await this.#shadow;
      await record.committed();
      const closedSeq = await record.readLastChange();
      const snapshot = await takeSnapshot(shadow);
      this.#last = { snapshot, closedSeq };
      if (!owner || !last) return;
      const differences = compareSnapshots(last.snapshot, snapshot);
      const kept = await keepDifferences(differences, shadow, blobs);
      await record.committed();
      for (const found of kept) await this.#book(owner, found, { from: last.closedSeq, to: closedSeq });
    } catch (thrown) {
      this.#shadow = undefined;
      loser.lost(messageOf(thrown));
    }
  }

  async #book(
    owner: Watched,
    { path, before, after }: Found,
    window: { from: number; to: number },
  ): Promise<void> {
    const booked = await this.#parts.record.listChanges({ root: this.#root, path: path, after: window.from });
    for (const change of unbooked(before, after, booked, window.to)) this.#write(owner, { path, ...change });
  }

  #write({ found, lost, sessionId, runId, messageId }: Watched, change: Found & Unbooked): void {
    if (this.#parts.redact(change.path) !== change.path) {
      lost("the name of a file holds a secret");
      return;
    }
    this.#parts.record.append({
      kind: "change.open",
      change: {
        changeId: createId("chg"),
        sessionId,
        runId,
        messageId,
        root: this.#root,
        source: "command",
        ...change,
        done: true,
      },
    });
    if (!isFolder(change.before) && !isFolder(change.after))
      found(change.path, nameChange(change.before, change.after));
  }
}
