import { RetinueError } from "../schema/error.ts";
import { Queue } from "./queue.ts";

/** A limit on how many children of one parent are alive at once, first come first served. */
export class Gate {
  readonly max: number;
  #open = 0;
  readonly #queue = new Queue<() => void>();

  constructor(max: number) {
    if (!(max >= 1)) throw new RetinueError("input", `at least one must be allowed at once, not ${max}`);
    this.max = max;
  }

  /** Runs `work` once there is room, and makes room again when it ends. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#open >= this.max) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#open++;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#open--;
    }
  }
}
