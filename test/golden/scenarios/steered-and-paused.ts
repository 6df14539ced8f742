import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "a run that is paused waits, and reads what it is told before it goes on",
  scripts: { lead: [callTool("look", { at: "one" }), (request) => say(`I was told: ${request.last}`)] },
  tools: [look],
  play: async ({ runtime, events, until }) => {
    const { runId, result } = await runtime.start({ agent: "lead", task: "Look." });
    runtime.events((event) => {
      if (event.type === "call.started") {
        runtime.pause(runId);
        runtime.steer(runId, "Look closer.");
      }
    });
    await until(() => events.some((event) => event.type === "run.waiting" && event.on === "pause"));
    runtime.unpause(runId);
    return result;
  },
});
