import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "a second task goes on with the conversation, and a fork with the conversation as it was earlier",
  scripts: {
    lead: [callTool("look", { at: "it" }), say("I looked."), say("As I said."), say("Something else.")],
  },
  tools: [look],
  play: async ({ runtime }) => {
    const first = await runtime.run({ agent: "lead", task: "Look." });
    const second = await runtime.run({ agent: "lead", task: "What did you see?", session: first.session_id });
    const third = await runtime.run({
      agent: "lead",
      task: "And now?",
      fork: { sessionId: first.session_id, seq: 5 },
    });
    return [first, second, third];
  },
});
