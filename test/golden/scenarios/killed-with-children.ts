import { callDelegateMany, hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title:
    "a process is killed while one of two children has ended; the next one does not start that one again",
  isParallel: true,
  scripts: {
    lead: [
      callDelegateMany([
        { id: "a", agent: "worker", task: "task a" },
        { id: "b", agent: "worker", task: "task b" },
      ]),
    ],
    worker: ({ task }) => (task === "task a" ? say("a is done") : hang()),
  },
  agents: { lead: { subagents: { allow: ["worker"], execution: "parallel" } } },
  request: { agent: "lead", task: "Do both." },
  killed: {
    when: ({ events, models }) =>
      models.worker?.requests.length === 2 &&
      events.some((event) => event.type === "run.ended" && event.agent === "worker"),
    afterwards: { lead: [say("Both are done.")], worker: [say("b is done")] },
  },
});
