import type { Procedure } from "./conversation.ts";
import { cutShort, needsModel } from "./offline-words.ts";

const SHOWN = 120;

/** The coder: writing code is what rules cannot do, and it says so. */
export const coder: Procedure = {
  agents: ["coder", "executor"],
  next({ task }) {
    const [first = ""] = task.split("\n", 1);
    const short = cutShort(first, SHOWN);
    const can = "find things, plan, run tests, point to the line that fails, and review by rules";
    return { cannot: needsModel(`write or change code (“${short}”)`, can) };
  },
};
