import { defineScenario } from "../scenario.ts";
import { SHOP } from "../shop.ts";

export default defineScenario({
  title: "without a model, the reviewer, the debugger and the coder say what they can and cannot do",
  isParallel: true,
  files: SHOP,
  // What a command gives depends on the machine.
  options: { disallowedTools: ["test", "shell", "git", "git_diff"] },
  play: async ({ runtime }) => [
    await runtime.run({ agent: "reviewer", task: "Review src/basket.ts for bugs" }),
    await runtime.run({ agent: "debugger", task: "Why does the test “ten percent off” fail?" }),
    await runtime.run({ agent: "coder", task: "Rename discounted to reduced" }),
    await runtime.run({ agent: "main", task: "Find where prices are rounded and summarise it" }),
  ],
});
