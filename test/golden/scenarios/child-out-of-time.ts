import { callDelegate, hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a child whose time is up ends, its parent is told, and what it owes is still checked",
  scripts: { lead: [callDelegate("worker", "wait"), say("It took too long.")], worker: [hang()] },
  agents: { worker: { limits: { minutes: 1 }, deliverables: [{ file: "out.txt" }], retry: { attempts: 0 } } },
  play: async ({ runtime, clock, models, until }) => {
    const { result } = await runtime.start({ agent: "lead", task: "Wait for it." });
    await until(() => models.worker?.requests.length === 1);
    await runtime.record.committed();
    clock.advance(61_000);
    return result;
  },
});
