import { callTool } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { stall } from "../tools.ts";

export default defineScenario({
  title: "a tool that never answers is given up when the run's time is up, and the run is partial",
  scripts: { lead: [callTool("stall", {})] },
  tools: [stall],
  agents: { lead: { tools: ["stall"], limits: { minutes: 1 } } },
  play: async ({ runtime, clock, events, until }) => {
    const { result } = await runtime.start({ agent: "lead", task: "Wait for the tool." });
    await until(() => events.some(({ type }) => type === "call.started"));
    clock.advance(61_000);
    return result;
  },
});
