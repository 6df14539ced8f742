import { callDelegate, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look, pay } from "../tools.ts";

export default defineScenario({
  title: "a child has what its parent grants, its own tools and the delegation all allow, and no more",
  scripts: {
    lead: [
      callDelegate("worker", "with all it has"),
      callDelegate("worker", "with less", { tools: ["look"], limits: { turns: 2 } }),
      callTool("pay", { to: "Ada", amount: 1 }),
      say("Done."),
    ],
    worker: {
      eachRun: [
        callTool("pay", { to: "Bob", amount: 2 }),
        callTool("look", { at: "the till" }),
        say("worked"),
      ],
    },
  },
  tools: [look, pay],
  agents: {
    lead: { tools: ["look"], grants: ["look", "pay"], subagents: { allow: ["worker"] } },
    worker: { tools: ["look", "pay", "read"], disallowedTools: ["read"] },
  },
  request: { agent: "lead", task: "Have the till looked at." },
});
