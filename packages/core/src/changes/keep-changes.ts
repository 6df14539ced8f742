import { join, relative, sep } from "node:path";
import { untilAborted } from "../budget/until-aborted.ts";
import { createId } from "../run/create-id.ts";
import type { CallChanges, KeepChanges } from "../run/ports.ts";
import type { ChangeOpening, FileState } from "../schema/change.ts";
import { messageOf } from "../schema/error.ts";
import type { ChangeKind } from "../schema/result.ts";
import { CommandWatch, type KeeperParts } from "./command-watch.ts";
import { hasGit } from "./git.ts";
import { PathLocks } from "./path-locks.ts";
import { findMissingFolders, keepState } from "./state.ts";

/** Keeps what the calls of a runtime change. */
export type ChangeKeeper = {
  keep: KeepChanges;
  /** Held while a path is changed. */
  readonly locks: PathLocks;
  /** Lets go of what is open for a folder. */
  forget(root: string): Promise<void>;
  close(): Promise<void>;
};

type Call = Parameters<KeepChanges>[0];
type Begun = { changeId: string; root: string; path: string; release: (() => void) | null };

/** Files beyond this many are kept, but no longer listed one by one in the run's result. */
const MOST_LISTED = 500;

/** Creates the keeper of a runtime. Nothing is opened before the first change. */
export function createChangeKeeper(parts: KeeperParts): ChangeKeeper {
  const locks = new PathLocks();
  const watches = new Map<string, CommandWatch>();
  const watchOf = (root: string) => {
    const watch = watches.get(root) ?? new CommandWatch(root, parts);
    watches.set(root, watch);
    return watch;
  };
  return {
    keep: (call) => new KeptCall(call, parts, locks, watchOf),
    locks,
    async forget(root) {
      await watches.get(root)?.close();
      watches.delete(root);
    },
    async close() {
      await Promise.all([...watches.values()].map((watch) => watch.close()));
    },
  };
}

/** The books of one call. */
class KeptCall implements CallChanges {
  readonly #call: Call;
  readonly #parts: KeeperParts;
  readonly #locks: PathLocks;
  readonly #watchOf: (root: string) => CommandWatch;
  readonly #begun = new Map<string, Begun>();
  readonly #notes: string[] = [];
  #commands = 0;
  #listed = 0;

  constructor(call: Call, parts: KeeperParts, locks: PathLocks, watchOf: (root: string) => CommandWatch) {
    this.#call = call;
    this.#parts = parts;
    this.#locks = locks;
    this.#watchOf = watchOf;
  }

  get busy(): boolean {
    return this.#begun.size > 0 || this.#commands > 0;
  }

  /** Content and mode are on disk, and so is the row that tells of them, before the promise resolves. */
  beforeChange = async (path: string): Promise<void> => {
    const { projectDir, signal } = this.#call;
    const inside = relative(projectDir, path).split(sep).join("/");
    if (inside === "" || inside === ".." || inside.startsWith("../")) return;
    if (this.#begun.has(inside)) return;
    const shown = this.#parts.redact(inside);
    if (shown !== inside) {
      this.#lost(shown, "its name holds a secret");
      return;
    }
    const release = await this.#locks.take(path, this.#begun.size > 0, signal);
    try {
      for (const folder of await findMissingFolders(projectDir, inside)) this.#open(folder, null, null);
      const before = await keepState(projectDir, inside, this.#parts.blobs, true).catch((thrown) => {
        this.#lost(inside, messageOf(thrown));
        return undefined;
      });
      if (before === undefined) return release?.();
      this.#open(inside, before, release);
      await untilAborted(this.#parts.record.committed(), signal);
    } catch (thrown) {
      if (!this.#begun.has(inside)) release?.();
      throw thrown;
    }
  };

  aroundChanges = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const { projectDir, sessionId, runId, rowId: messageId } = this.#call;
    if (!(await hasGit(projectDir))) {
      this.#lost("", "git is not on the PATH");
      return work();
    }
    this.#commands++;
    try {
      const lost = (why: string) => this.#lost("", why);
      const found = (path: string, kind: ChangeKind) => this.#found(path, kind);
      const command = { sessionId, runId, messageId, found, lost };
      return await this.#watchOf(projectDir).around(command, work);
    } finally {
      this.#commands--;
    }
  };

  /** Measures what came of every change that was announced. */
  end = async (): Promise<readonly string[]> => {
    for (const [inside, { changeId, root, path, release }] of this.#begun) {
      try {
        const after = await keepState(root, path, this.#parts.blobs, false);
        this.#parts.record.append({ kind: "change.close", changeId: changeId, after: after });
      } catch (thrown) {
        this.#note(`what became of ${path} is not kept: ${messageOf(thrown)}`);
      } finally {
        release?.();
        this.#begun.delete(inside);
      }
    }
    return this.#notes;
  };

  #open(path: string, before: FileState, release: (() => void) | null): void {
    const changeId = this.#book({ path, source: "tool", before, done: false });
    this.#begun.set(path, { changeId, root: this.#call.projectDir, path, release });
  }

  /** Opens a change in the record, whose id comes back. */
  #book(change: Pick<ChangeOpening, "path" | "source" | "before" | "done" | "note">): string {
    const { projectDir: root, sessionId, runId, rowId: messageId } = this.#call;
    const changeId = createId("chg");
    const about = { changeId, sessionId, runId, messageId, root };
    this.#parts.record.append({ kind: "change.open", change: { ...about, ...change } });
    return changeId;
  }

  /** A folder that was made is kept, but is no file of the result. */
  #found(path: string, kind: ChangeKind): void {
    if (this.#listed++ < MOST_LISTED) this.#call.changed(join(this.#call.projectDir, path), kind);
  }

  #lost(path: string, why: string): void {
    const source = path === "" ? "command" : "tool";
    this.#book({ path, source, before: null, done: true, note: `not kept: ${why}` });
    const what = path === "" ? "what this command changed" : `what ${path} held`;
    this.#note(`${what} is not kept and cannot be undone: ${why}`);
  }

  #note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }
}
