import type { Procedure } from "../../../models/offline/procedure.ts";
import { research } from "./research.ts";

/** The researcher: answers questions from the project's files. */
export const researcher: Procedure = { agents: ["researcher"], next: research };
