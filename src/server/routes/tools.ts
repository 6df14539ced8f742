import { KNOWN_GROUPS } from "../../runtime/project/known-tools.ts";
import type { ToolList } from "../../schema/api/agent.ts";
import { functionToolOf } from "../../tools/validate-input.ts";
import { delegationTools } from "../agents/tried-tools.ts";
import { toolListShape } from "../api/agent-shapes.ts";
import { defineRoute, type Route } from "../api/route.ts";

/** What rules may name. */
export const toolRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/tools",
    summary: "Every tool that a rule may name, with the input it takes, and every group.",
    answer: toolListShape,
    handle(_request, { tools, project }): ToolList {
      const all = [...tools, ...delegationTools(project.current().registry)];
      return {
        tools: all.map((tool) => ({
          name: tool.name,
          groups: tool.groups,
          description: tool.description,
          risk: typeof tool.risk === "function" ? "depends" : tool.risk,
          input: functionToolOf(tool).inputSchema,
        })),
        groups: [...KNOWN_GROUPS],
      };
    },
  }),
];
