import type { Clock } from "./clock.ts";
import { Queue } from "./queue.ts";
import { type Waiter, waitInLine } from "./waiter.ts";

/** How a provider call ended, for the limit it shares with all others. */
export type LimiterOutcome = { rateLimited: boolean; failed?: boolean; retryAfterMs?: number };

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;
/** A provider that asks for more patience than this is asked again after it. */
const LONGEST_RETRY_AFTER_MS = 300_000;

/**
 * Calls to one provider, shared by every run. A rate limit stops new calls for all of them; afterwards a single
 * call probes, and each success widens the window by one until the maximum is reached again.
 */
export class Limiter {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #random: () => number;
  #window: number;
  #active = 0;
  #blockedUntilMs = 0;
  #strikes = 0;
  #timer: (() => void) | undefined;
  readonly #queue = new Queue<Waiter>();

  constructor(max: number, clock: Clock, random: () => number = Math.random) {
    this.#max = max;
    this.#window = max;
    this.#clock = clock;
    this.#random = random;
  }

  /** Calls that have a place. */
  get active(): number {
    return this.#active;
  }

  /** Takes a place at once if nothing holds calls back. */
  tryAcquire(): boolean {
    if (this.#active >= this.#window || this.#blocked()) return false;
    this.#active++;
    return true;
  }

  /** Waits for a place; false if the signal fired first. */
  acquire(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#queue.size === 0 && this.tryAcquire()) return Promise.resolve(true);
    return waitInLine(signal, (waiter) => {
      this.#queue.push(waiter);
      this.#pump();
    });
  }

  /** Gives a place back. Only a success widens the window again; a failure of another kind says nothing about the limit. */
  release({ rateLimited, failed = false, retryAfterMs }: LimiterOutcome): void {
    this.#active--;
    if (rateLimited)
      this.#backOff(retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
    else if (!failed) {
      this.#strikes = 0;
      if (this.#window < this.#max) this.#window++;
    }
    this.#pump();
  }

  #blocked(): boolean {
    return this.#blockedUntilMs > 0 && this.#clock.monotonicMs() < this.#blockedUntilMs;
  }

  #backOff(retryAfterMs: number | undefined): void {
    if (this.#blocked() && this.#window === 1) {
      if (retryAfterMs !== undefined) this.#blockUntil(this.#clock.monotonicMs() + retryAfterMs);
      return;
    }
    this.#window = 1;
    const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#strikes++);
    this.#blockUntil(
      this.#clock.monotonicMs() + (retryAfterMs ?? backoff / 2 + (backoff / 2) * this.#random()),
    );
  }

  #blockUntil(atMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, atMs);
    this.#timer?.();
    this.#timer = this.#clock.timer(Math.max(0, this.#blockedUntilMs - this.#clock.monotonicMs()) + 1, () => {
      this.#timer = undefined;
      // Timers of the machine can fire a little early, and nobody else would wake those who wait.
      if (this.#blocked()) this.#blockUntil(this.#blockedUntilMs);
      else this.#pump();
    });
  }

  #pump(): void {
    while (this.#queue.size > 0 && this.tryAcquire()) {
      let waiter = this.#queue.shift();
      while (waiter?.gone) waiter = this.#queue.shift();
      if (waiter) waiter.grant(true);
      else this.#active--;
    }
  }
}
