import type { Route } from "../api/route.ts";
import { aboutRoutes } from "./about.ts";
import { agentRoutes } from "./agents.ts";
import { approvalRoutes } from "./approvals.ts";
import { exportRoutes } from "./export.ts";
import { fileRoutes } from "./files.ts";
import { healthRoutes } from "./health.ts";
import { planRoutes } from "./plans.ts";
import { removalRoutes } from "./removal.ts";
import { runControlRoutes } from "./run-controls.ts";
import { runRoutes } from "./runs.ts";
import { sessionControlRoutes } from "./session-controls.ts";
import { eventRoutes } from "./session-events.ts";
import { sessionRoutes } from "./sessions.ts";
import { statsRoutes } from "./stats.ts";
import { toolRoutes } from "./tools.ts";

/** Every route of the API but those that the server itself brings: links and the description. */
export const ALL_ROUTES: readonly Route[] = [
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
