import type { ApiRoute } from "../http/route.ts";
import { agentRoutes } from "./agents.ts";
import { approvalRoutes } from "./approvals.ts";
import { controlRoutes } from "./controls.ts";
import { fileRoutes } from "./files.ts";
import { planRoutes } from "./plans.ts";
import { projectRoutes } from "./project.ts";
import { removalRoutes } from "./removal.ts";
import { runRoutes } from "./runs.ts";
import { sessionRoutes } from "./sessions.ts";

/** Every route of the API but those that the server itself brings: links and the description. */
export const ALL_ROUTES: readonly ApiRoute[] = [
  ...projectRoutes,
  ...sessionRoutes,
  ...removalRoutes,
  ...runRoutes,
  ...controlRoutes,
  ...fileRoutes,
  ...approvalRoutes,
  ...planRoutes,
  ...agentRoutes,
];
