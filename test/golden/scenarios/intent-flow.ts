import { callTool, failWith, type Step, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { send } from "../tools.ts";

export default defineScenario({
  title:
    "an intent flow assesses, executes and formats; it also ends when something is missing or a call fails",
  scripts: {
    mailer: ({ task, turn }) => TURNS[task]?.[turn] ?? failWith("auth", "the key is wrong"),
  },
  tools: [send],
  agents: { mailer: { flow: "intent", tools: ["send"] } },
  options: { permissionMode: "bypassPermissions" },
  play: async ({ runtime }) => [
    await runtime.run({ agent: "mailer", task: "Send it to jo" }),
    await runtime.run({ agent: "mailer", task: "Send it" }),
    await runtime.run({ agent: "mailer", task: "Send it to nobody" }),
    await runtime.run({ agent: "mailer", task: "Do something" }),
    await runtime.run({ agent: "mailer", task: "Send it to ann" }),
  ],
});

function assess(sequence: readonly string[], more: object = {}) {
  const assessment = {
    request: "send it",
    tools: sequence,
    params: {},
    status: "planning",
    result: {},
    notes: "one recipient",
  };
  return say(
    JSON.stringify({ ...assessment, sequence, risk: "medium", assumptions: ["today"], missing: [], ...more }),
  );
}

const TURNS: Readonly<Record<string, readonly Step[]>> = {
  "Send it to jo": [assess(["send"]), callTool("send", { to: "jo" }), say("Sent to jo.")],
  "Send it": [assess([], { missing: ["the recipient"] })],
  "Send it to nobody": [
    assess(["send"]),
    callTool("send", { to: "nobody" }),
    say("It does not work."),
    say("I could not send it: there is no such person."),
  ],
  "Do something": [say("this is no assessment"), say("nor is this"), say("nor this")],
  "Send it to ann": [assess(["send"])],
};
