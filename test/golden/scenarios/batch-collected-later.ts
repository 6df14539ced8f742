import { after, callDelegateMany, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a lead gets what is there, goes on while the rest runs, and collects it later",
  isParallel: true,
  scripts: () => {
    const slow = Promise.withResolvers<void>();
    return {
      lead: [
        callDelegateMany([
          { id: "fast", agent: "worker", task: "fast" },
          { id: "slow", agent: "worker", task: "slow" },
        ]),
        () => {
          slow.resolve();
          return callTool("collect_results", { wait: "all" });
        },
        say("Both were collected."),
      ],
      worker: ({ task }) =>
        task === "fast" ? say("fast is done") : after(slow.promise, say("slow is done")),
    };
  },
  agents: { lead: { subagents: { allow: ["worker"], execution: "parallel_streaming" } } },
  request: { agent: "lead", task: "Do both." },
});
