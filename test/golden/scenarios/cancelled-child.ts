import { callDelegate, hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "who cancels a child leaves its parent to go on",
  scripts: { lead: [callDelegate("worker", "wait"), say("It was cancelled.")], worker: [hang()] },
  play: async ({ runtime, models, events, until }) => {
    const { result } = await runtime.start({ agent: "lead", task: "Wait." });
    await until(() => models.worker?.requests.length === 1);
    await runtime.record.committed();
    for (const event of events)
      if (event.type === "run.started" && event.agent === "worker") runtime.cancel(event.runId);
    return result;
  },
});
