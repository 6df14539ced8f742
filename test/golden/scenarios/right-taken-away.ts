import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "a right that is taken away binds at the next call",
  scripts: { lead: [callTool("look", { at: "one" }), callTool("look", { at: "two" }), say("Only one.")] },
  tools: [look],
  play: async ({ runtime }) => {
    runtime.events((event) => {
      if (event.type === "call.ended") runtime.revoke("look");
    });
    return runtime.run({ agent: "lead", task: "Look twice." });
  },
});
