import { type Step, say } from "./retinue.ts";

/** A step of a plan, for the agent named worker. */
export function step(id: string, dependsOn: readonly string[] = []): object {
  return {
    ...{ id, title: `Do ${id}`, role: "worker", task: `task of ${id}`, dependsOn, files: [] },
    ...{ successCriteria: [`${id} is done`], estimate: { toolCalls: 2 } },
  };
}

/** The planner answers with a plan in a fenced block. */
export function answerPlan(...steps: readonly object[]): Step {
  return say(`Here it is.\n\n\`\`\`json\n${JSON.stringify({ summary: "step by step", steps })}\n\`\`\`\n`);
}
