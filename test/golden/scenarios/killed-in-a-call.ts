import { callTools, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look, stall } from "../tools.ts";

export default defineScenario({
  title:
    "a process is killed in a call that must not happen twice; the next one says that its outcome is not known",
  scripts: {
    lead: [
      callTools([
        { tool: "look", input: { at: "one" } },
        { tool: "stall", input: { n: 1 } },
      ]),
    ],
  },
  tools: [look, stall],
  request: { agent: "lead", task: "Do it once." },
  killed: {
    when: ({ events }) => events.some((event) => event.type === "call.started" && event.tool === "stall"),
    afterwards: { lead: [(request) => say(`I was told: ${request.last}`)] },
  },
});
