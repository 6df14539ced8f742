// OpenAI Agents: a sub-agent is given to its parent by `asTool`. A handler of events makes it stream, as all others do.
import { Agent, OpenAIChatCompletionsModel, run, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

export function createPeer(baseURL) {
  const model = new OpenAIChatCompletionsModel(new OpenAI({ baseURL, apiKey: "none" }), "mock");
  const worker = new Agent({
    name: "worker",
    model,
    instructions: "You take notes and report.",
    tools: [
      tool({
        name: "note",
        description: "Takes a note.",
        parameters: z.object({ text: z.string() }),
        execute: async ({ text }) => `noted ${text}`,
      }),
    ],
  });
  const asTool = worker.asTool({ toolName: "worker", toolDescription: "Works.", onStream() {} });
  const lead = new Agent({ name: "lead", model, instructions: "You lead.", tools: [asTool] });
  return {
    start: () => stream(worker, "first"),
    fanOut: (size) => stream(lead, `fan out ${size} agent worker`),
  };
}

async function stream(agent, task) {
  const result = await run(agent, task, { stream: true });
  for await (const event of result) void event;
  await result.completed;
  if (result.error) throw result.error;
}
