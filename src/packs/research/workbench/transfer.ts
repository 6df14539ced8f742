import { setTimeout as sleep } from "node:timers/promises";
import { type Workbench, WorkbenchError, type WorkbenchFailure } from "./workbench.ts";

/** What goes on the way at once. */
export const CHUNK_BYTES = 512 * 1024;
/** Larger files are refused, both ways. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;

/** How a file is brought from one side to the other. */
export type TransferOptions = {
  workbench: Workbench;
  signal: AbortSignal;
  /** Told how many bytes are across. */
  onProgress?: (bytes: number, size: number) => void;
  chunkBytes?: number;
  /** How often in a row an exchange may fail before the transfer is given up. */
  patience?: number;
  /** Wait after a failure, doubled each time. */
  backoffMs?: number;
};

/** What came of a transfer. */
export type Transferred = {
  size: number;
  sha256: string;
  /** Bytes that were across already when it began. */
  resumedFrom: number;
  /** How often it was interrupted. */
  interruptions: number;
};

const PATIENCE = 4;
const BACKOFF_MS = 500;
const MENDABLE: ReadonlySet<WorkbenchFailure> = new Set(["unreachable", "lost"]);

/**
 * Counts what goes wrong in a row. A failure that another attempt may mend is waited out; every step forward makes up
 * for those before it.
 */
export class Patience {
  interruptions = 0;
  readonly #options: TransferOptions;
  #inARow = 0;
  #furthest = -1;

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  /** Something arrived: as far as this. What was there before does not count again. */
  advanced(to: number): void {
    if (to <= this.#furthest) return;
    this.#furthest = to;
    this.#inARow = 0;
  }

  /** Waits before the next attempt, or throws if there is to be none. */
  async afterFailure(thrown: unknown): Promise<void> {
    const { signal, patience = PATIENCE, backoffMs = BACKOFF_MS } = this.#options;
    signal.throwIfAborted();
    if (!(thrown instanceof WorkbenchError) || !MENDABLE.has(thrown.failure)) throw thrown;
    this.interruptions++;
    if (++this.#inARow > patience) throw thrown;
    await sleep(backoffMs * 2 ** (this.#inARow - 1), undefined, { signal });
  }
}
