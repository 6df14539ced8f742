import { callDelegate, hang } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "who cancels a session ends everything below it",
  scripts: { lead: [callDelegate("worker", "wait")], worker: [hang()] },
  play: async ({ runtime, models, until }) => {
    const { sessionId, result } = await runtime.start({ agent: "lead", task: "Wait." });
    await until(() => models.worker?.requests.length === 1);
    await runtime.record.committed();
    return [runtime.cancel(sessionId), await result];
  },
});
