/**
 * A model that plays moves: an OpenAI-compatible server whose replies follow a script, as a strong model that was trained on
 * other systems' tools would go about a task. It uses the words it knows; what is refused it says again in the program's own
 * words, and what came back stale or cut it asks for again. It counts what that costs.
 */
import { once } from "node:events";
import http from "node:http";

/** A tool call: its name and its input. */
export type Words = readonly [tool: string, input: Record<string, unknown>];

/** A call in the words a model tries first, how it says the same in ours, and what the answer must show to be of use. */
export type Move = { known: Words; ours?: Words; shows?: RegExp };

/** What one agent does: calls turn by turn, then its answer. Its conversation is known by the words of its task. */
export type Script = { task: string; turns: readonly (readonly Move[])[]; answer: string };

/** What the talk of a task cost. */
export type Cost = {
  requests: number;
  bytesIn: number;
  bytesOut: number;
  /** Calls that were refused: unknown names and inputs, and what the program would not do. */
  rejected: number;
  /** Turns of whose calls none was of use: each was refused, or its answer did not show what had just been done. */
  wasted: number;
};

/** A request as it was sent. */
export type ChatRequest = {
  messages: { role: string; content?: unknown; tool_call_id?: string }[];
  tools?: { function: { name: string } }[];
};

/** The server, and what it saw since the last `begin`. */
export type ScriptedModel = {
  url: string;
  cost: Cost;
  /** The refusals, as `call: answer`. */
  refusals: string[];
  /** The first request of each conversation by the words of its task, as it stood on the wire. */
  first: Map<string, string>;
  begin(scripts: readonly Script[]): void;
  close(): Promise<void>;
};

/** A call that was made, and how often it was tried. */
type Made = { id: string; move: Move; words: Words; tries: number };
type Talk = { at: number; made: Made[] };
type Reply = { text: string } | { calls: readonly Made[] };

const MAX_TRIES = 5;
const REFUSED =
  /^(?:error: )?(?:invalid input for|there is no tool|permission denied|the call could not be checked|the limit of|\{"error":\{"type":"(?:invalid_input|unknown_agent|not_allowed|not_found))|^[^\n]*\b(?:was not read|read it (?:first|again))\b/i;

/** Starts the server on a free port of this machine; `log` gets every request and reply. */
export async function startScriptedModel(log: (entry: object) => void): Promise<ScriptedModel> {
  let scripts: readonly Script[] = [];
  let talks = new Map<Script, Talk>();
  let calls = 0;
  const newId = () => `call_${++calls}`;

  /** Looks at what came of the last turn: what must be made again, and what the turn was worth. */
  const judge = ({ made }: Talk, request: ChatRequest): Made[] => {
    let useless = 0;
    const again = made.flatMap((one): Made[] => {
      const result = request.messages.find((message) => message.tool_call_id === one.id);
      const text = readText(result?.content);
      const isRefused = REFUSED.test(text);
      if (isRefused) {
        model.cost.rejected++;
        model.refusals.push(`${one.words[0]} ${JSON.stringify(one.words[1])}: ${text}`);
      }
      const cutAt = findCut(text);
      const isStale = cutAt === null && one.move.shows !== undefined && !one.move.shows.test(text);
      if (isRefused || isStale) useless++;
      else if (cutAt === null) return [];
      if (one.tries === MAX_TRIES) return [];
      const [tool, input] = one.words;
      const words: Words = cutAt === null ? one.words : [tool, { ...input, offset: cutAt }];
      const next = isRefused ? (one.move.ours ?? words) : words;
      return [{ id: newId(), move: one.move, words: next, tries: one.tries + 1 }];
    });
    if (made.length > 0 && useless === made.length) model.cost.wasted++;
    return again;
  };

  const answer = (request: ChatRequest): Reply => {
    const script = findScript(scripts, request);
    // Who offers no tools wants a summary or a last word.
    if (!script || !request.tools?.length) return { text: script?.answer ?? "Nothing more is known." };
    const isNew = !request.messages.some(({ role }) => role === "assistant");
    const before = isNew ? undefined : talks.get(script);
    const talk: Talk = before ?? { at: 0, made: [] };
    talks.set(script, talk);
    const again = judge(talk, request);
    const next = script.turns[talk.at];
    if (again.length > 0) talk.made = again;
    else if (next) {
      talk.at++;
      talk.made = next.map((move) => ({ id: newId(), move, words: move.known, tries: 1 }));
    } else talk.made = [];
    return talk.made.length > 0 ? { calls: talk.made } : { text: script.answer };
  };

  const server = http.createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    if (body === "") {
      // It is asked what models there are.
      response.writeHead(404).end();
      return;
    }
    const request = JSON.parse(body) as ChatRequest;
    const task = findScript(scripts, request)?.task;
    if (task !== undefined && !model.first.has(task)) model.first.set(task, body);
    const reply = answer(request);
    const sent = encode(reply);
    model.cost.requests++;
    model.cost.bytesIn += Buffer.byteLength(body);
    model.cost.bytesOut += Buffer.byteLength(sent);
    log({ task, request, reply });
    response.writeHead(200, { "content-type": "text/event-stream" }).end(sent);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;

  const model: ScriptedModel = {
    url: `http://127.0.0.1:${port}/v1`,
    cost: { requests: 0, bytesIn: 0, bytesOut: 0, rejected: 0, wasted: 0 },
    refusals: [],
    first: new Map(),
    begin: (next) => {
      scripts = next;
      talks = new Map();
      model.cost = { requests: 0, bytesIn: 0, bytesOut: 0, rejected: 0, wasted: 0 };
      model.refusals = [];
      model.first = new Map();
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return model;
}

/** The script whose task is named first in the first message of a user. */
function findScript(scripts: readonly Script[], { messages }: ChatRequest): Script | undefined {
  const asked = readText(messages.find(({ role }) => role === "user")?.content);
  const found = scripts.flatMap((script) => {
    const at = asked.indexOf(script.task);
    return at < 0 ? [] : [{ script, at }];
  });
  return found.sort((a, b) => a.at - b.at)[0]?.script;
}

/** The text of a message's content. */
export function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

/** The line from which to read on in an answer of numbered lines that was cut: as it says, or after the last one before the cut. */
function findCut(answer: string): number | null {
  const [before = "", after] = answer.split(/\[… \d+ characters left out/);
  if (after === undefined) return null;
  const told = /^[^\]]*\boffset (\d+)/.exec(after)?.[1];
  return Number(told ?? before.match(/^\d+(?=\t)/gm)?.at(-1) ?? 1);
}

function encode(reply: Reply): string {
  const calls = "calls" in reply ? reply.calls : [];
  const tool_calls = calls.map(({ id, words: [name, input] }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const content = "text" in reply ? reply.text : "";
  const delta = { role: "assistant", content, ...(calls.length > 0 && { tool_calls }) };
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const head = { id: "c", model: "scripted" };
  const parts = [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...head, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } },
  ];
  return `${parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join("")}data: [DONE]\n\n`;
}
