import { callDelegate, callTool, hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "a process is killed while a child asks its model; the next one goes on with both runs",
  scripts: {
    lead: [callTool("look", { at: "one" }), callDelegate("worker", "go on")],
    worker: [callTool("look", { at: "two" }), hang()],
  },
  tools: [look],
  request: { agent: "lead", task: "Begin and end." },
  killed: {
    when: ({ models }) => models.worker?.requests.length === 2,
    afterwards: { lead: [(request) => say(`The end: ${request.last}`)], worker: [say("I went on.")] },
  },
});
