import type { Procedure } from "../../../models/offline/procedure.ts";
import { main } from "./main.ts";
import { researcher } from "./researcher.ts";

/** How the agents that work on code do so without a model. */
export const codeProcedures: readonly Procedure[] = [main, researcher];
