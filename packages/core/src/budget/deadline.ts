/** A moment that moves on by the time during which its clock was stopped. Times are monotonic milliseconds. */
export class Deadline {
  atMs: number;
  #stops = 0;
  #stoppedMs = 0;

  constructor(atMs: number) {
    this.atMs = atMs;
  }

  get isStopped(): boolean {
    return this.#stops > 0;
  }

  /** Stops the clock until `start` has been called as often. */
  stop(nowMs: number): void {
    if (this.#stops++ === 0) this.#stoppedMs = nowMs;
  }

  start(nowMs: number): void {
    if (--this.#stops === 0) this.atMs += nowMs - this.#stoppedMs;
  }
}

/** The time that a person or a program gave to a run and everything below it; boxes can stand in each other. */
export type TimeBox = {
  readonly deadline: Deadline;
  readonly lengthMs: number;
  /** Depth of the run it was given to. */
  readonly depth: number;
  readonly outer: TimeBox | null;
};
