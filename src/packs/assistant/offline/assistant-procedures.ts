import type { Procedure } from "../../../models/offline/procedure.ts";
import { domainProcedures } from "./domain-procedures.ts";
import { assistant, mainForDomains } from "./master/master.ts";

/** How the agents for mail, calendar, contacts and Slack, and those above them, work without a model. */
export const assistantProcedures: readonly Procedure[] = [assistant, mainForDomains, ...domainProcedures];
