import { events, startServer, type TestServer } from "../fixtures/model-server.ts";

/** One message of a chat request. */
export type ChatMessage = { role: string; content?: unknown; tool_calls?: unknown[]; tool_call_id?: string };

/** A request as a script looks at it. */
export type ModelRequest = {
  /** The model's name as it was asked for. */
  model: string;
  system: string;
  messages: ChatMessage[];
  /** Text of the last message. */
  last: string;
  /** Text of the whole conversation. */
  all: string;
  /** How many replies of the model are in it. */
  turn: number;
  toolNames: string[];
  /** How long the reply may be. */
  maxTokens: number | undefined;
};

/** What the model answers. */
export type ModelReply =
  | { text: string }
  | { calls: readonly { name: string; input: unknown }[]; text?: string }
  | { status: number; message: string }
  | { hang: true };

/** A model server that answers by a function of the request, and the requests it saw. */
export type ModelServer = { url: string; requests: ModelRequest[]; close(): Promise<void> };

/** Starts an OpenAI-compatible server; each reply uses 10 tokens in and 5 out, and comes when the script gives it. */
export async function startModel(
  script: (request: ModelRequest) => ModelReply | Promise<ModelReply>,
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  let calls = 0;
  const server: TestServer = await startServer(async (seen, response) => {
    // A request for the list of models is told that this server has none.
    if (seen.body === "") {
      response.writeHead(404).end();
      return;
    }
    const request = readRequest(seen.body);
    requests.push(request);
    const reply = await script(request);
    if ("hang" in reply) return;
    if ("status" in reply) {
      response.writeHead(reply.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: reply.message } }));
      return;
    }
    const uses = "calls" in reply ? reply.calls : [];
    const tool_calls = uses.map(({ name, input }, index) => ({
      index,
      id: `call_${++calls}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const delta = {
      role: "assistant",
      content: reply.text ?? "",
      ...(tool_calls.length > 0 && { tool_calls }),
    };
    const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
    const head = { id: "c", model: "mock" };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const parts = events(
      { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...head, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } },
      "[DONE]",
    );
    response.end(parts.join(""));
  });
  return { url: `${server.url}/v1`, requests, close: server.close };
}

function readRequest(body: string): ModelRequest {
  const {
    model = "",
    messages = [],
    tools = [],
    max_tokens: maxTokens,
  } = JSON.parse(body) as {
    model?: string;
    messages?: ChatMessage[];
    tools?: { function: { name: string } }[];
    max_tokens?: number;
  };
  const texts = messages.map((message) => textOf(message.content));
  return {
    model,
    system: textOf(messages.find((message) => message.role === "system")?.content),
    messages,
    last: texts.at(-1) ?? "",
    all: texts.join("\n"),
    turn: messages.filter((message) => message.role === "assistant").length,
    toolNames: tools.map((tool) => tool.function.name),
    maxTokens,
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}
