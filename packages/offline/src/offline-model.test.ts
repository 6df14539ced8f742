import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import type { OfflineMove, Procedure, Situation } from "./conversation.ts";
import { createAgentModel } from "./offline-model.ts";
import { OFFLINE_LABEL } from "./offline-words.ts";

const agent = { name: "scout", aliases: ["ranger"], description: "Looks around." };

function modelWith(next: (situation: Situation) => OfflineMove, agents = ["scout"]) {
  const procedure: Procedure = { agents, next };
  return createAgentModel(agent, [procedure]).model;
}

const user = (text: string): LanguageModelV4Message => ({ role: "user", content: [{ type: "text", text }] });
const tool = (name: string) => ({ type: "function" as const, name, inputSchema: {} });
const asking = (...messages: LanguageModelV4Message[]): LanguageModelV4CallOptions => ({ prompt: messages });

async function readText(
  options: LanguageModelV4CallOptions,
  next: (situation: Situation) => OfflineMove,
): Promise<string> {
  const { content } = await modelWith(next).doGenerate(options);
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

test("a procedure sees the task, later words, calls with their results, tools and delegates", async () => {
  const seen: Situation[] = [];
  const system =
    "You lead.\n\n## Sub-agents\n\n- `scout`: Looks around.\n- `writer`: Writes: a lot.\n\nHand over.";
  await readText(
    {
      prompt: [
        { role: "system", content: system },
        user("the task"),
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "1", toolName: "ls", input: { path: "." } }],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "1",
              toolName: "ls",
              output: { type: "error-text", value: "no" },
            },
          ],
        },
        user("hurry"),
      ],
      tools: [tool("ls"), tool("delegate")],
    },
    (situation) => {
      seen.push(situation);
      return { say: "done" };
    },
  );
  expect(seen).toEqual([
    {
      agent,
      task: "the task",
      later: ["hurry"],
      calls: [{ tool: "ls", input: { path: "." }, result: "no", failed: true }],
      tools: ["ls", "delegate"],
      delegates: [
        { name: "scout", description: "Looks around." },
        { name: "writer", description: "Writes: a lot." },
      ],
      wrapUp: false,
      condensed: false,
      demanded: [],
    },
  ]);
});

test("every answer carries the label, and calls do not", async () => {
  expect(await readText(asking(user("x")), () => ({ say: "done" }))).toBe(`done\n\n${OFFLINE_LABEL}`);
  const { content, finishReason } = await modelWith(() => ({
    calls: [{ tool: "ls", input: {} }],
  })).doGenerate(asking(user("x")));
  expect(content).toEqual([{ type: "tool-call", toolCallId: "offline_0_0", toolName: "ls", input: "{}" }]);
  expect(finishReason.unified).toBe("tool-calls");
});

test("what is beyond the rules fails the call and cannot be tried again", async () => {
  const model = modelWith(() => ({ cannot: "no weights" }));
  await expect(model.doStream(asking(user("x")))).rejects.toMatchObject({
    type: "config",
    recoverable: false,
    message: "no weights",
  });
});

test("an agent without a procedure is refused by name, with what can be played and how to add a model", async () => {
  const model = modelWith(() => ({ say: "" }), ["guide"]);
  await expect(model.doStream(asking(user("x")))).rejects.toThrow(
    /cannot play the agent 'scout'\. It can play guide, main, .*\. To add a model, set ANTHROPIC_API_KEY/,
  );
});

test("a procedure also plays agents that have its name as an alias", async () => {
  const { content } = await modelWith(() => ({ say: "hi" }), ["ranger"]).doGenerate(asking(user("x")));
  expect(content).toHaveLength(1);
});

test("a summary is taken out of the notes, whatever the agent", async () => {
  const options = { ...asking(user("long notes")), providerOptions: { retinue: { purpose: "summary" } } };
  expect(await readText(options, () => ({ cannot: "never asked" }))).toBe("long notes");
});

test("a procedure that must report before it has finished gives what it has", async () => {
  const text = await readText(
    { ...asking(user("x")), tools: [tool("ls")], toolChoice: { type: "none" } },
    () => ({
      calls: [{ tool: "ls", input: {} }],
    }),
  );
  expect(text).toContain("Stopped by a limit");
});
