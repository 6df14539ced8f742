import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Emit } from "./read-reply.ts";

/** What a provider wants back with a part of its reply. */
export type Metadata = Extract<LanguageModelV4StreamPart, { type: "reasoning-end" }>["providerMetadata"];

/** Text and reasoning of one reply as numbered blocks, at most one of them open. */
export class TextBlocks {
  readonly #emit: Emit;
  #open: "text" | "reasoning" | undefined;
  #number = 0;
  #id = "0";
  #metadata: Metadata;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** How many blocks there have been. */
  get count(): number {
    return this.#number;
  }

  /** Goes on with the open block, or starts one if it is of the other kind. */
  add(kind: "text" | "reasoning", delta: string): void {
    this.open(kind);
    if (delta !== "")
      this.#emit({ type: kind === "text" ? "text-delta" : "reasoning-delta", id: this.#id, delta });
  }

  open(kind: "text" | "reasoning"): void {
    if (this.#open === kind) return;
    this.close();
    this.#open = kind;
    this.#id = String(this.#number++);
    this.#emit({ type: kind === "text" ? "text-start" : "reasoning-start", id: this.#id });
  }

  /** What must come back with the open block when the conversation is sent again; given out with its end. */
  remember(metadata: Metadata): void {
    this.#metadata = metadata;
  }

  close(): void {
    if (this.#open) {
      const metadata = this.#metadata && { providerMetadata: this.#metadata };
      this.#emit({ type: this.#open === "text" ? "text-end" : "reasoning-end", id: this.#id, ...metadata });
    }
    this.#open = undefined;
    this.#metadata = undefined;
  }
}
