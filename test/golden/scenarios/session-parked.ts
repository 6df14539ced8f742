import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { pay } from "../tools.ts";

export default defineScenario({
  title: "a session is left while it waits for a person, and goes on when the answer is there",
  scripts: { lead: [callTool("pay", { to: "Ada", amount: 5 }), say("Ada was paid.")] },
  tools: [pay],
  agents: { lead: { tools: ["pay"], askTools: ["pay"] } },
  options: { onAsk: "park" },
  play: async ({ runtime }) => {
    const parked = await runtime.run({ agent: "lead", task: "Pay Ada." });
    const [approval] = await runtime.record.listApprovals({ state: "waiting" });
    runtime.answer(approval?.approvalId ?? "", { allowed: true, by: "Grace" });
    return [parked, await (await runtime.resume(parked.session_id)).results];
  },
});
