import type { RetinueEvent } from "../schema/event.ts";

/** Someone who is told of events, in order, after they are on disk. */
export type Listener = (event: RetinueEvent) => void;

/** Hands events to subscribers. A listener that throws is told nothing more and never disturbs a run. */
export class EventBus {
  readonly #listeners = new Set<Listener>();

  get watched(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(event: RetinueEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        this.#listeners.delete(listener);
      }
    }
  }
}
