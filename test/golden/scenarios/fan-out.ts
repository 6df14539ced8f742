import { failWith, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a program runs several tasks at once; one fails, and the results keep their order",
  isParallel: true,
  scripts: {
    lead: [say("one is done")],
    worker: ({ task }) => (task === "two" ? failWith("content_filter", "not that") : say(`${task} is done`)),
  },
  play: ({ runtime }) =>
    runtime.fanOut([
      ["lead", "one"],
      ["worker", "two", { budget: 3 }],
      ["worker", "three", { tools: ["read"] }],
    ]),
});
