import { Queue } from "./queue.ts";
import { type Waiter, waitInLine } from "./waiter.ts";

/**
 * The global limit on runs inside a model or tool call. Runs that come back from waiting go before new ones,
 * deepest first, so that work in progress is finished before more is begun.
 */
export class Slots {
  readonly max: number;
  #active = 0;
  readonly #fresh = new Queue<Waiter>();
  readonly #returning: Queue<Waiter>[] = [];
  #drained: PromiseWithResolvers<void> | null = null;

  constructor(max: number) {
    this.max = max;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#returning.reduce((sum, queue) => sum + queue.size, this.#fresh.size);
  }

  /** Nobody is let in any more. */
  get isDraining(): boolean {
    return this.#drained !== null;
  }

  /** Lets nobody in from now on, so that who asks waits until its signal fires; resolves when everybody has left. */
  drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers<void>();
    if (this.#active === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** Takes a slot at once if one is free. */
  tryAcquire(): boolean {
    if (this.#active >= this.max || this.#drained) return false;
    this.#active++;
    return true;
  }

  /** Waits for a slot; false if the signal fired first. */
  acquire(depth: number, returning: boolean, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.tryAcquire()) return Promise.resolve(true);
    return waitInLine(signal, (waiter) => this.#queue(depth, returning).push(waiter));
  }

  release(): void {
    const next = this.#drained ? undefined : this.#next();
    if (next) next.grant(true);
    else this.#active--;
    if (this.#active === 0) this.#drained?.resolve();
  }

  #queue(depth: number, returning: boolean): Queue<Waiter> {
    if (!returning) return this.#fresh;
    for (let level = this.#returning.length; level <= depth; level++) this.#returning.push(new Queue());
    return this.#returning[depth] ?? this.#fresh;
  }

  #next(): Waiter | undefined {
    for (let level = this.#returning.length - 1; level >= 0; level--) {
      const waiter = firstPresent(this.#returning[level]);
      if (waiter) return waiter;
    }
    return firstPresent(this.#fresh);
  }
}

function firstPresent(queue: Queue<Waiter> | undefined): Waiter | undefined {
  let waiter = queue?.shift();
  while (waiter?.gone) waiter = queue?.shift();
  return waiter;
}

/** One run's hold on the global slots: counted, so that parallel tool calls of a run share one slot. */
export class RunSlot {
  readonly #slots: Slots;
  readonly #depth: number;
  #users = 0;
  #held = false;
  #everHeld = false;
  #acquiring: Promise<boolean> | undefined;

  constructor(slots: Slots, depth: number) {
    this.#slots = slots;
    this.#depth = depth;
  }

  /** The run is inside a call, or waits for the slot to begin one. */
  get isUsed(): boolean {
    return this.#users > 0 || this.#acquiring !== undefined;
  }

  /** True at once if the slot could be taken without waiting. */
  tryEnter(): boolean {
    if (this.#slots.isDraining) return false;
    if (!this.#held && (this.#acquiring || !this.#slots.tryAcquire())) return false;
    this.#held = true;
    this.#everHeld = true;
    this.#users++;
    return true;
  }

  /** Waits until this run holds a slot; false if the signal fired first. */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (this.tryEnter()) return true;
    this.#acquiring ??= this.#slots.acquire(this.#depth, this.#everHeld, signal).then((granted) => {
      this.#acquiring = undefined;
      this.#held ||= granted;
      this.#everHeld ||= granted;
      return granted;
    });
    if (!(await this.#acquiring)) return false;
    this.#users++;
    return true;
  }

  leave(): void {
    if (--this.#users > 0) return;
    this.#held = false;
    this.#slots.release();
  }
}
