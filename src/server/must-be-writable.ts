import type { Desk } from "./desk.ts";

/** What is begun while nothing can be written would only wait, with nobody told; whoever asks for it is told why instead. */
export function mustBeWritable({ runtime }: Pick<Desk, "runtime">): void {
  const problem = runtime.store.writeProblem();
  if (problem) throw problem;
}
