import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeInside } from "../files/open-inside.ts";
import { messageOf } from "../schema/error.ts";

/** Where observations of a session go. */
export type ObservationsOptions = {
  workspaceDir: string;
  redact: (text: string) => string;
  /** Told of what could not be kept. */
  onFault: (message: string, runId: string) => void;
};

const MOST_WAITING = 200;
const MOST_WAITING_CHARS = 16_000_000;
/** A disk that hangs must not keep a session from ending. */
const FLUSH_MS = 5_000;

/** Writes what tools found to the workspace, one file after the other, and never makes a run wait or fail. */
export class Observations {
  readonly #options: ObservationsOptions;
  #last: Promise<void> | undefined;
  #waiting = 0;
  #waitingChars = 0;

  constructor(options: ObservationsOptions) {
    this.#options = options;
  }

  /** Takes a text for a file; `path` is relative to the workspace. */
  add(path: string, text: string, runId: string): void {
    const { workspaceDir } = this.#options;
    if (this.#waiting >= MOST_WAITING || this.#waitingChars + text.length > MOST_WAITING_CHARS) {
      this.#fail(path, "too much is waiting to be written", runId);
      return;
    }
    this.#waiting++;
    this.#waitingChars += text.length;
    const written = (this.#last ?? Promise.resolve())
      .then(() => this.#write(workspaceDir, path, text))
      .catch((thrown) => this.#fail(path, messageOf(thrown), runId))
      .finally(() => {
        this.#waiting--;
        this.#waitingChars -= text.length;
        if (this.#last === written) this.#last = undefined;
      });
    this.#last = written;
  }

  /** Waits until all that was taken is written, but not longer than a moment; never rejects. */
  async flush(): Promise<void> {
    if (!this.#last) return;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS);
    });
    await Promise.race([this.#last, enough]);
    clearTimeout(timer);
  }

  async #write(workspaceDir: string, path: string, text: string): Promise<void> {
    await mkdir(workspaceDir, { recursive: true, mode: 0o700 });
    await writeInside(workspaceDir, join(workspaceDir, path), this.#options.redact(text));
  }

  #fail(path: string, why: string, runId: string): void {
    this.#options.onFault(this.#options.redact(`${path} was not kept: ${why}`), runId);
  }
}
