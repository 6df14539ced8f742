/**
 * A stand-in for a model that takes its time: `node bench/web-model.ts` prints `{"port":N}`. A request whose agent may
 * delegate is answered with one `delegate_many` of AGENTS tasks, then with a closing text; every other one with PIECES
 * pieces of text, one each EVERY_MS, each of which carries the moment it was sent as `@<milliseconds>@`.
 */
import http from "node:http";

const AGENTS = Number(process.env.BENCH_AGENTS ?? 50);
const PIECES = Number(process.env.BENCH_PIECES ?? 300);
const EVERY_MS = Number(process.env.BENCH_EVERY_MS ?? 30);

type Body = { messages: { role: string }[]; tools?: { function: { name: string } }[] };

const server = http.createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => {
    text += chunk;
  });
  request.on("end", () => answer(JSON.parse(text) as Body, response));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === "object" ? address?.port : 0 }));
});

function answer(body: Body, response: http.ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const mayDelegate = body.tools?.some((tool) => tool.function.name === "delegate_many") ?? false;
  const isFirst = !body.messages.some(({ role }) => role === "tool");
  if (!mayDelegate) talk(response);
  else if (isFirst) end(response, { tool_calls: [delegateMany()] }, "tool_calls");
  else end(response, { content: "All of them have answered." }, "stop");
}

function talk(response: http.ServerResponse): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent++ < PIECES) {
      send(response, { content: `word ${sent} @${Date.now()}@ ` });
      return;
    }
    clearInterval(timer);
    end(response, {}, "stop");
  }, EVERY_MS);
  response.on("close", () => clearInterval(timer));
}

function delegateMany(): object {
  const tasks = Array.from({ length: AGENTS }, (_, index) => ({
    id: `t${index}`,
    agent: "talker",
    task: `Talk about number ${index}`,
  }));
  return {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "delegate_many", arguments: JSON.stringify({ tasks }) },
  };
}

function send(response: http.ServerResponse, delta: object, finish: string | null = null): void {
  const choices = [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: finish }];
  response.write(`data: ${JSON.stringify({ id: "c", model: "mock", choices })}\n\n`);
}

function end(response: http.ServerResponse, delta: object, finish: string): void {
  send(response, delta);
  send(response, {}, finish);
  const usage = { prompt_tokens: 10, completion_tokens: PIECES };
  response.write(`data: ${JSON.stringify({ id: "c", model: "mock", choices: [], usage })}\n\n`);
  response.end("data: [DONE]\n\n");
}
