import { callDelegate, failWith } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a model that fails ends its run, and the parent is told why",
  scripts: {
    lead: [
      callDelegate("worker", "ask the model"),
      callDelegate("worker", "ask again"),
      failWith("auth", "the key is wrong"),
    ],
    worker: [
      failWith("context_overflow", "too long"),
      failWith("bad_response", "not understood"),
      failWith("overloaded", "too busy"),
    ],
  },
  request: { agent: "lead", task: "Ask." },
});
