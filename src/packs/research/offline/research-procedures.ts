import type { Procedure } from "../../../models/offline/procedure.ts";
import { reportExpert } from "./report-expert.ts";
import { reportLead } from "./report-lead.ts";

/** How agents that make reports do so without a model. */
export const researchProcedures: readonly Procedure[] = [reportLead, reportExpert];
