import { callTool, callTools, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { pay } from "../tools.ts";

export default defineScenario({
  title: "a person allows one call and refuses the next",
  scripts: {
    lead: [
      callTool("pay", { to: "Ada", amount: 5 }),
      callTools([
        { tool: "pay", input: { to: "Bob", amount: 5_000 } },
        { tool: "pay", input: { to: "Ada", amount: 5 } },
      ]),
      say("Ada was paid."),
    ],
  },
  tools: [pay],
  agents: { lead: { tools: ["pay"], askTools: ["pay"] } },
  options: {
    approve: async ({ input }) =>
      JSON.stringify(input).includes("Ada")
        ? { allowed: true, by: "Grace", scope: "run" }
        : { allowed: false, by: "Grace", note: "too much" },
  },
  request: { agent: "lead", task: "Pay everybody." },
});
