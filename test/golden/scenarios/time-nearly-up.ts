import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "at four fifths of its time a run reports once more, without tools",
  scripts: { lead: [callTool("look", { at: "it" }), say("I only saw it.")] },
  tools: [look],
  agents: { lead: { tools: ["look"], limits: { minutes: 1 } } },
  play: async ({ runtime, clock }) => {
    runtime.events((event) => {
      if (event.type === "call.ended") clock.advance(50_000);
    });
    return runtime.run({ agent: "lead", task: "Look for as long as you can." });
  },
});
