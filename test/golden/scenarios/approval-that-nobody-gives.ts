import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { pay } from "../tools.ts";

export default defineScenario({
  title: "a call that a person would have to allow is denied if nobody is there",
  scripts: { lead: [callTool("pay", { to: "Ada", amount: 5 }), say("Nobody was there.")] },
  tools: [pay],
  agents: { lead: { tools: ["pay"], askTools: ["pay"] } },
  request: { agent: "lead", task: "Pay Ada." },
});
