import type { RetinueEvent } from "../schema/event.ts";

/** Someone who is told of events, in order, after they are on disk. */
export type Listener = (event: RetinueEvent) => void;

const MOST_UNHEARD = 100;

/**
 * Hands events to subscribers. A listener that throws is told nothing more and never disturbs a run. A notice that
 * nobody was there to hear, such as one from opening the database, waits for the first listener.
 */
export class EventBus {
  readonly #listeners = new Set<Listener>();
  readonly #unheard: RetinueEvent[] = [];

  get watched(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    for (const event of this.#unheard.splice(0)) this.publish(event);
    return () => this.#listeners.delete(listener);
  }

  publish(event: RetinueEvent): void {
    if (!this.watched && event.type === "notice.raised" && this.#unheard.length < MOST_UNHEARD)
      this.#unheard.push(event);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        this.#listeners.delete(listener);
      }
    }
  }
}
