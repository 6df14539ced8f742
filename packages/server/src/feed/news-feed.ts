import type { Clock } from "@retinue/core/budget/clock";
import type { NewsEvent } from "@retinue/core/schema/api/stream";
import { EventStream, encodeEvent } from "./event-stream.ts";

/** What the news are made from. */
type NewsPorts = {
  readonly clock: Clock;
  hello(): Promise<Extract<NewsEvent, { kind: "hello" }>>;
  /** How many questions wait for a person, and which is the newest. */
  asks(): Promise<{ count: number; newest: number }>;
  /** The first reader has come, or the last has gone. */
  watched(isWatched: boolean): void;
};

const FLUSH_MS = 300;

/** What lists may want to load again, told to all readers at once. */
export class NewsFeed {
  readonly #ports: NewsPorts;
  readonly #streams = new Set<EventStream>();
  readonly #sessions = new Set<string>();
  #asks = { count: -1, newest: -1 };
  #areAsksStale = false;
  #calledOff: (() => void) | null = null;

  constructor(ports: NewsPorts) {
    this.#ports = ports;
  }

  get isWatched(): boolean {
    return this.#streams.size > 0;
  }

  /** Adds a reader. */
  async join(signal: AbortSignal): Promise<Response> {
    const stream = new EventStream({ signal, ended: () => this.#leave(stream) });
    const { response } = stream;
    const hello = await this.#ports.hello();
    stream.send(encodeEvent(hello));
    if (!this.isWatched) this.#asks = await this.#ports.asks();
    if (signal.aborted) return response;
    const isFirst = !this.isWatched;
    this.#streams.add(stream);
    // What others were told meanwhile.
    if (!isFirst && hello.asks !== this.#asks.count)
      stream.send(encodeEvent({ kind: "asks", asks: this.#asks.count }));
    if (isFirst) this.#ports.watched(true);
    return response;
  }

  /** A session is new or has changed. */
  sessionChanged(sessionId: string): void {
    if (!this.isWatched) return;
    this.#sessions.add(sessionId);
    this.#soon();
  }

  /** Something may wait for a person, or no longer. */
  asksChanged(): void {
    if (!this.isWatched) return;
    this.#areAsksStale = true;
    this.#soon();
  }

  /** Agent files have changed. */
  agentsChanged(): void {
    this.sendAll(encodeEvent({ kind: "agents" }));
  }

  /** Sends bytes to all readers. */
  sendAll(bytes: Uint8Array): void {
    for (const stream of this.#streams) stream.send(bytes);
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }

  #soon(): void {
    this.#calledOff ??= this.#ports.clock.timer(FLUSH_MS, () => {
      this.#calledOff = null;
      // The record may be busy for a moment.
      this.#flush().catch(() => this.asksChanged());
    });
  }

  async #flush(): Promise<void> {
    if (this.#sessions.size > 0) this.sendAll(encodeEvent({ kind: "sessions", ids: [...this.#sessions] }));
    this.#sessions.clear();
    if (!this.#areAsksStale) return;
    this.#areAsksStale = false;
    const asks = await this.#ports.asks();
    // One question may have taken another's place within the same moment.
    const isNew = asks.count !== this.#asks.count || asks.newest !== this.#asks.newest;
    if (isNew) this.sendAll(encodeEvent({ kind: "asks", asks: asks.count }));
    this.#asks = asks;
  }

  #leave(stream: EventStream): void {
    if (!this.#streams.delete(stream) || this.isWatched) return;
    this.#calledOff?.();
    this.#calledOff = null;
    this.#sessions.clear();
    this.#ports.watched(false);
  }
}
