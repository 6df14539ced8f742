import { once } from "node:events";
import http from "node:http";

/** What the server answers: a text, tool calls, or an error. */
export type ServerReply =
  | { text: string }
  | { calls: readonly { tool: string; input: unknown }[] }
  | { status: number; error: string };

/** A model behind HTTP that answers in its order, and what it was asked. */
export type OpenAiServer = {
  seen: { path: string | undefined; body: unknown }[];
  start(): Promise<{ baseUrl: string; close(): Promise<void> }>;
};

/** A server in OpenAI's streaming format that plays these replies each time it is started. */
export function openAiServer(replies: readonly ServerReply[]): OpenAiServer {
  const seen: OpenAiServer["seen"] = [];
  return {
    seen,
    async start() {
      seen.length = 0;
      const server = http.createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const reply = replies[seen.length] ?? { status: 410, error: "there is no further reply" };
        seen.push({ path: request.url, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) });
        answer(reply, response);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      return {
        baseUrl: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`,
        async close() {
          server.closeAllConnections();
          server.close();
          await once(server, "close");
        },
      };
    },
  };
}

function answer(reply: ServerReply, response: http.ServerResponse): void {
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: reply.error } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const choice of toChoices(reply)) send(response, { choices: [{ index: 0, ...choice }] });
  send(response, { choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } });
  response.end("data: [DONE]\n\n");
}

function toChoices(reply: Exclude<ServerReply, { status: number }>): object[] {
  if ("text" in reply) {
    const words = reply.text.split(/(?<= )/).map((content) => ({ delta: { content } }));
    return [...words, { delta: {}, finish_reason: "stop" }];
  }
  const calls = reply.calls.map(({ tool, input }, index) => ({
    delta: {
      tool_calls: [
        {
          index,
          id: `call_${index}`,
          type: "function",
          function: { name: tool, arguments: JSON.stringify(input) },
        },
      ],
    },
  }));
  return [...calls, { delta: {}, finish_reason: "tool_calls" }];
}

function send(response: http.ServerResponse, part: object): void {
  response.write(
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "mock", ...part })}\n\n`,
  );
}
