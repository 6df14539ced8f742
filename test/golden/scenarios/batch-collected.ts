import { callDelegateMany, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a lead goes on while its batch runs, and collects the results",
  isParallel: true,
  scripts: {
    lead: [
      callDelegateMany([
        { id: "a", agent: "worker", task: "task a" },
        { id: "b", agent: "worker", task: "task b" },
      ]),
      callTool("collect_results", { wait: "all" }),
      say("Both were collected."),
    ],
    worker: (request) => say(`${request.task} is done`),
  },
  agents: { lead: { subagents: { allow: ["worker"], execution: "parallel_streaming" } } },
  request: { agent: "lead", task: "Do both." },
});
