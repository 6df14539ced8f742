import { expect, test } from "vitest";
import { defineAgent } from "../agents/define-agent.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type Conduct, createConductor, fitToLead } from "./conductor.ts";

const passedOn = { id: "test/model", provider: "test", model: scriptedModel("model", []), price: null };

/** What a conducted run is told, by one way of asking or the other. */
async function ask(conduct: Partial<Conduct>, purpose?: string): Promise<string[]> {
  const { stream } = createConductor(
    { next: async () => ({ say: "next" }), report: async () => "report", ...conduct },
    passedOn,
  );
  const told: string[] = [];
  const providerOptions = purpose === undefined ? {} : { providerOptions: { retinue: { purpose } } };
  await stream?.({ prompt: [], ...providerOptions }, (part) => {
    if (part.type === "text-delta") told.push(part.delta);
    if (part.type === "tool-call") told.push(`${part.toolCallId}: ${part.toolName}(${part.input})`);
    if (part.type === "finish") told.push(part.finishReason.unified);
  });
  return told;
}

test("the host's next move takes the place of a model's reply; a run that must end is asked for its report", async () => {
  const call = { id: "step-1", tool: "delegate" as const, input: { agent: "scout" } };
  expect(await ask({ next: async () => ({ call }) })).toEqual([
    'step-1: delegate({"agent":"scout"})',
    "tool-calls",
  ]);
  expect(await ask({})).toEqual(["next", "stop"]);
  expect(await ask({}, "wrap_up")).toEqual(["report", "stop"]);
});

test("a move that fails is the failure of a model call that no retry helps", async () => {
  const failing = ask({ next: async () => ({ fail: "no plan", type: "config" }) });
  await expect(failing).rejects.toMatchObject({ message: "no plan", type: "config", recoverable: false });
});

test("what the host decides costs nothing, and children inherit the model that the run would have had", () => {
  const conductor = createConductor({ next: async () => ({ say: "" }), report: async () => "" }, passedOn);
  expect(conductor).toMatchObject({
    unmetered: true,
    price: { input: 0, output: 0 },
    passedOn: { id: "test/model" },
  });
});

test("a leader keeps its rights and budget, owes no files, and runs no more children at once than it may", () => {
  const leader = (maxConcurrent?: number) =>
    fitToLead(
      defineAgent({
        ...{
          name: "lead",
          description: "Leads.",
          prompt: "x",
          tools: ["read"],
          deliverables: [{ file: "a" }],
        },
        limits: { turns: 2, tokens: 500 },
        subagents: { allow: ["*"], maxConcurrent: 3 },
      }),
      maxConcurrent,
    );
  expect(leader()).toMatchObject({ tools: ["read"], deliverables: [], limits: { turns: 20, tokens: 500 } });
  expect([leader(2), leader(9)].map(({ subagents }) => subagents?.maxConcurrent)).toEqual([2, 3]);
});
