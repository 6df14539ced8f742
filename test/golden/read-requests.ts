import type { Line } from "./read-record.ts";
import type { LanguageModelV4CallOptions, ScriptedModel } from "./retinue.ts";

/** What the models were asked: of each conversation only what is new since its last request. */
export function readRequests(models: Readonly<Record<string, ScriptedModel>>): Line[] {
  return Object.entries(models).flatMap(([name, { requests }]) => {
    const conversations = new Map<string, { last: string[]; lines: Line[] }>();
    for (const { prompt, tools, abortSignal, ...options } of requests) {
      const messages = prompt.map((message) => JSON.stringify(message));
      const key = JSON.stringify(prompt.find(({ role }) => role === "user") ?? null);
      const conversation = conversations.get(key) ?? { last: [], lines: [] };
      const goesOn = conversation.last.every((message, index) => message === messages[index]);
      const added = prompt.slice(goesOn ? conversation.last.length : 0);
      conversation.lines.push({
        at: `request ${conversation.lines.length + 1} to ${name}`,
        [goesOn ? "added" : "messages"]: added,
        tools: describeTools(tools),
        options,
      });
      conversation.last = messages;
      conversations.set(key, conversation);
    }
    const sorted = [...conversations].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    return sorted.flatMap(([, { lines }]) => lines);
  });
}

/** A name and a text for each tool, which become one text. */
function describeTools(tools: LanguageModelV4CallOptions["tools"]): { text: string; parts: string[] } {
  return { text: "", parts: (tools ?? []).map((tool) => JSON.stringify(tool, null, 1)) };
}
