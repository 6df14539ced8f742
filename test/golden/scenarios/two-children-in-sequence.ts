import { callTools, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "two tasks of one turn are done one after the other",
  scripts: {
    lead: [
      callTools([
        { tool: "delegate", input: { agent: "worker", task: "first" } },
        { tool: "delegate", input: { agent: "worker", task: "second" } },
      ]),
      say("Both are done."),
    ],
    worker: (request) => say(`${request.task} is done`),
  },
  agents: { lead: { subagents: { allow: ["worker"], execution: "sequential" } } },
  request: { agent: "lead", task: "Do both." },
});
