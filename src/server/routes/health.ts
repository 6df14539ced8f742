import type { HealthView } from "../../schema/api/inspect.ts";
import { healthShape } from "../api/inspect-shapes.ts";
import { defineRoute, type Route } from "../api/route.ts";

/** Keys, providers, servers, and files that were repaired or skipped. */
export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/health",
    summary: "Looks at everything that a run needs.",
    answer: healthShape,
    async handle(_, { project, checkHealth }): Promise<HealthView> {
      const { problems } = await project.reload();
      return {
        checks: await checkHealth(),
        problems: problems.map(({ severity, file, line, code, message, fix }) => ({
          severity,
          file,
          line,
          code,
          message,
          fix,
        })),
      };
    },
  }),
];
