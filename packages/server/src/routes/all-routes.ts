import type { ApiRoute } from "../http/route.ts";
import { agentRoutes } from "./agents.ts";
import { approvalRoutes } from "./approvals.ts";
import { runControlRoutes, sessionControlRoutes } from "./controls.ts";
import { exportRoutes, fileRoutes } from "./files.ts";
import { planRoutes } from "./plans.ts";
import { aboutRoutes, healthRoutes, statsRoutes, toolRoutes } from "./project.ts";
import { removalRoutes } from "./removal.ts";
import { runRoutes } from "./runs.ts";
import { eventRoutes, sessionRoutes } from "./sessions.ts";

/** Every route of the API but those that the server itself brings: links and the description. */
export const ALL_ROUTES: readonly ApiRoute[] = [
  ...aboutRoutes,
  ...sessionRoutes,
  ...removalRoutes,
  ...sessionControlRoutes,
  ...eventRoutes,
  ...runRoutes,
  ...runControlRoutes,
  ...fileRoutes,
  ...exportRoutes,
  ...approvalRoutes,
  ...planRoutes,
  ...agentRoutes,
  ...toolRoutes,
  ...statsRoutes,
  ...healthRoutes,
];
