import { callDelegate, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "children get the task alone, a summary, the last messages or the whole conversation",
  scripts: {
    lead: [
      callTool("look", { at: "the harbour" }),
      callDelegate("worker", "task alone", { context: "task_only" }),
      callDelegate("worker", "task with a summary", { context: "summary" }),
      say("The harbour was looked at."),
      callDelegate("worker", "task with two messages", { context: "selective", lastMessages: 2 }),
      callDelegate("worker", "task with everything", { context: "full" }),
      say("All are done."),
    ],
    worker: (request) => say(`done: ${request.task.slice(0, 40)}`),
  },
  tools: [look],
  agents: { lead: { tools: ["look"], subagents: { allow: ["worker"] } }, worker: { tools: ["look"] } },
  request: { agent: "lead", task: "Look at the harbour, then tell the others." },
});
