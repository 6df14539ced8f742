import { needsModel } from "../../../models/offline/offline-words.ts";
import type { Procedure } from "../../../models/offline/procedure.ts";
import { researcher } from "../research/research.ts";
import { diagnose } from "./debugger.ts";
import { main } from "./main.ts";
import { planner } from "./planner.ts";
import { reviewer } from "./reviewer.ts";
import { tester } from "./tester.ts";

const SHOWN = 120;

/** The coder: writing code is what rules cannot do, and it says so. */
const coder: Procedure = {
  agents: ["coder", "executor"],
  next({ task }) {
    const [first = ""] = task.split("\n", 1);
    const short = first.length > SHOWN ? `${first.slice(0, SHOWN - 1)}…` : first;
    const can = "find things, plan, run tests, point to the line that fails, and review by rules";
    return { cannot: needsModel(`write or change code (“${short}”)`, can) };
  },
};

/** How the agents that work on code do so without a model. */
export const codeProcedures: readonly Procedure[] = [
  main,
  researcher,
  planner,
  tester,
  reviewer,
  diagnose,
  coder,
];
