import { defineScenario } from "../scenario.ts";
import { SHOP } from "../shop.ts";

export default defineScenario({
  title: "without a model, main finds out where a function is and which tests cover it",
  isParallel: true,
  files: SHOP,
  request: { agent: "main", task: "Where is discounted and what tests cover it?" },
});
