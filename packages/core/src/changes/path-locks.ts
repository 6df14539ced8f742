import { untilAborted } from "../budget/until-aborted.ts";

/** One holder per path at a time, so that what a path was before and after a change belongs to that change alone. */
export class PathLocks {
  readonly #held = new Map<string, Promise<void>>();

  /**
   * Waits until the path is free and takes it; the answer gives it back. Who holds a path already does not wait for
   * another, because two of those could wait for each other: null says that he goes on without it.
   */
  async take(path: string, holds: boolean, signal: AbortSignal): Promise<(() => void) | null> {
    for (let holder = this.#held.get(path); holder; holder = this.#held.get(path)) {
      if (holds) return null;
      await untilAborted(holder, signal);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held.set(path, promise);
    return () => {
      this.#held.delete(path);
      resolve();
    };
  }
}
