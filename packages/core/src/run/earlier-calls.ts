import type { EarlierCall } from "../tools/tool.ts";

/** A call that was noted; its files are known when it has ended. */
export type NotedCall = { readonly tool: string; readonly input: unknown; files: readonly string[] };

/**
 * The calls of a session that a later one may build upon, in the order they were asked for, whichever run made them: a
 * harmless command can be the first half of one that is not.
 */
export class EarlierCalls {
  readonly #calls: NotedCall[] = [];

  /** Takes in a call, before it is judged: calls of one turn are judged at the same time. */
  note(tool: string, input: unknown, files: readonly string[] = []): NotedCall {
    const noted = { tool, input, files };
    this.#calls.push(noted);
    return noted;
  }

  /** A call that was refused did nothing. */
  forget(noted: NotedCall): void {
    const at = this.#calls.indexOf(noted);
    if (at >= 0) this.#calls.splice(at, 1);
  }

  /** The calls of the same tool that came before. */
  before(noted: NotedCall): readonly EarlierCall<unknown>[] {
    const at = this.#calls.indexOf(noted);
    return this.#calls.slice(0, Math.max(at, 0)).filter(({ tool }) => tool === noted.tool);
  }
}
