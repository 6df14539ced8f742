import { defineScenario } from "../scenario.ts";
import { SHOP } from "../shop.ts";

export default defineScenario({
  title: "without a model, the planner breaks a goal down into steps",
  isParallel: true,
  files: SHOP,
  request: { agent: "planner", task: "Add a second discount to discounted in src/pricing.ts" },
});
