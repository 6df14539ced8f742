import { untilAborted } from "../../budget/until-aborted.ts";
import type { Run } from "../run.ts";

/** What a tool says of a call before it is made; a run that was stopped does not wait for it. */
export async function askTool<Value>(run: Run, said: Value | Promise<Value>): Promise<Value> {
  return said instanceof Promise ? untilAborted(said, run.signal) : said;
}
