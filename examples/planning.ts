import { createRuntime, defineAgent } from "retinue";
import { say, scriptedModel } from "retinue/testing";

const main = defineAgent({
  name: "main",
  description: "Leads the work.",
  prompt: "See the task through.",
  subagents: { allow: ["planner", "worker"] },
});
const planner = defineAgent({
  name: "planner",
  description: "Makes plans.",
  prompt: "Plan.",
  model: "planner",
});
const worker = defineAgent({
  name: "worker",
  description: "Does one step.",
  prompt: "Do it.",
  model: "worker",
});

// Two steps in the middle need only the first, so they run at the same time; the last waits for both.
const step = (id: string, dependsOn: string[]) => ({
  id,
  title: `The ${id} step`,
  role: "worker",
  task: `Do the ${id} step.`,
  dependsOn,
  files: [],
  successCriteria: ["It is done"],
  estimate: { toolCalls: 1 },
});
const steps = [
  step("first", []),
  step("left", ["first"]),
  step("right", ["first"]),
  step("last", ["left", "right"]),
];

const runtime = createRuntime({
  agents: [main, planner, worker],
  // Any model works here; with none at all, planning is done by rules.
  models: {
    planner: scriptedModel("planner", [say(JSON.stringify({ summary: "A diamond.", steps }))]),
    worker: scriptedModel("worker", ({ task }) => say(`Done: ${task.split("\n")[0]}`)),
  },
  model: scriptedModel("main", []),
  database: ":memory:",
});

const plan = await runtime.planForGoal("Show how a plan is carried out");
for (const { id, role, dependsOn } of plan.steps)
  console.log(`${id} (${role}) needs ${dependsOn.join(", ") || "nothing"}`);

const result = await runtime.executePlan(plan);
console.log(`${result.status}: ${result.summary}`);
console.log(`tool calls: ${JSON.stringify(result.tool_calls)}`);
await runtime.close();
