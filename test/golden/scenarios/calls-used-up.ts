import { callTool, callTools, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look, pay } from "../tools.ts";

export default defineScenario({
  title: "calls beyond the limits of a run and of a tool are refused",
  scripts: {
    lead: [
      callTools([
        { tool: "pay", input: { to: "Ada", amount: 1 } },
        { tool: "pay", input: { to: "Ada", amount: 2 } },
      ]),
      callTools([
        { tool: "look", input: { at: "one" } },
        { tool: "look", input: { at: "two" } },
        { tool: "look", input: { at: "three" } },
      ]),
      callTool("look", { at: "four" }),
      say("That was all I could do."),
    ],
  },
  tools: [look, pay],
  agents: { lead: { limits: { toolCalls: 4, perTool: { pay: 1 } } } },
  options: { allowedTools: ["pay"] },
  request: { agent: "lead", task: "Pay and look." },
});
