import type { Agent } from "../schema/agent.ts";
import type { RunError } from "../schema/result.ts";

/** The delegation that is asked for, and where in the tree. */
export type Admission = {
  child: Agent;
  parent: Agent;
  /** Names from the root down to the parent itself. */
  line: readonly string[];
  depth: number;
  maxDepth: number;
};

/** The gate every child run passes, whoever asks for it: depth and circles. Null lets it through. */
export function admitChild({ child, parent, line, depth, maxDepth }: Admission): RunError | null {
  if (depth > maxDepth) {
    const path = [...line, child.name].join(" > ");
    const message = `delegation depth ${depth} exceeds the limit of ${maxDepth} (${path}); do this part yourself`;
    return { type: "depth_exceeded", message, recoverable: false };
  }
  if (line.includes(child.name) && !parent.subagents?.recursive) {
    const path = [...line.slice(line.indexOf(child.name)), child.name].join(" → ");
    const message = `'${child.name}' is already at work above (${path}); set subagents.recursive in '${parent.name}' to allow this`;
    return { type: "cycle", message, recoverable: false };
  }
  return null;
}
