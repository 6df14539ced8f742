import { say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a reply that was cut goes on, and an empty one is asked for again",
  scripts: {
    lead: [
      { kind: "reply", text: "The first half of the", calls: [], finish: "length" },
      { kind: "reply", text: " answer.", calls: [], finish: "stop" },
    ],
    mute: [say(""), say("Now I say something.")],
  },
  play: async ({ runtime }) => [
    await runtime.run({ agent: "lead", task: "Answer at length." }),
    await runtime.run({ agent: "mute", task: "Say something." }),
  ],
});
