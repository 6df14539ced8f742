import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { endsWhole } from "../../models/wire/finish-reason.ts";
import { parseJson } from "../../tools/validate-input.ts";
import type { Redactor } from "../ports.ts";

/** A tool call as the model wrote it; the input is JSON text not yet checked. */
export type ToolCall = {
  callId: string;
  tool: string;
  /** Without secrets; this is what history and record hold. */
  input: string;
  /** As written, only where hiding a secret changed it; this is what the tool gets. */
  rawInput?: string;
  /** In a recorded call: its input held a secret, so that only a placeholder was kept. */
  redacted?: boolean;
  /** Its reply did not end as a whole one does: it may be cut, or not meant, and is not made. */
  unfinished?: { finish: Reply["finish"]; maxOutputTokens: number };
  /** What became of a call before it in the same reply, which should have changed a file and failed. */
  behind?: string;
  /** Made by the host to check a deliverable; not counted against the run. */
  byHost?: boolean;
  /** Asked for before a crash: perhaps counted then, and perhaps with an open row to go on in. */
  resumed?: { rowId: number | null; counted: boolean };
  /** Whom it reaches, where that is looked up outside; null until it is known. */
  reached?: readonly string[] | null | undefined;
  /** The keys of its input as the model wrote them, where ours are others. */
  used?: readonly string[];
  /** Words of its input that mean nothing here and were left out. */
  ignored?: readonly string[];
  /** What it asks the web for, once that was allowed; `carrying`: where the answer may hold what runs know. */
  requested?: { readonly free: readonly string[]; readonly carrying: readonly string[] };
  /** It let in what a tainted run had written to files. */
  broughtUntrusted?: true;
  metadata?: SharedV4ProviderMetadata;
};

/** What a call gave back, as it enters the history. */
export type CallResult = {
  callId: string;
  tool: string;
  text: string;
  outcome: "ok" | "error" | "denied" | "cached";
};

/** A complete reply of the model. */
export type Reply = {
  text: string;
  reasoning: { text: string; metadata?: SharedV4ProviderMetadata }[];
  calls: ToolCall[];
  finish: LanguageModelV4FinishReason["unified"];
  /** The most tokens that it could have, if it was cut there. */
  maxOutputTokens?: number;
  usage: LanguageModelV4Usage | undefined;
  /** The model that really answered, if the provider said. */
  modelId: string | undefined;
};

/** Puts a reply together part by part. Only a stream that reached its finish gives a reply. */
export class ReplyReader {
  readonly reply: Reply = {
    text: "",
    reasoning: [],
    calls: [],
    finish: "other",
    usage: undefined,
    modelId: undefined,
  };
  finished = false;
  error: unknown;
  /** Characters of everything that came, for a bound on replies without end. */
  chars = 0;
  /** Characters of inputs that were counted as they came, before their calls did. */
  #streamedInput = 0;

  /** Takes one part; returns text to show, if any. */
  take(part: LanguageModelV4StreamPart): { kind: "text" | "reasoning"; text: string } | null {
    const reply = this.reply;
    switch (part.type) {
      case "text-delta":
        reply.text += part.delta;
        this.chars += part.delta.length;
        return { kind: "text", text: part.delta };
      case "reasoning-start":
        reply.reasoning.push({ text: "" });
        return null;
      case "reasoning-delta": {
        this.chars += part.delta.length;
        const last = reply.reasoning.at(-1);
        if (last) last.text += part.delta;
        else reply.reasoning.push({ text: part.delta });
        return { kind: "reasoning", text: part.delta };
      }
      case "reasoning-end": {
        const last = reply.reasoning.at(-1);
        if (last && part.providerMetadata) last.metadata = part.providerMetadata;
        return null;
      }
      case "tool-input-delta":
        this.chars += part.delta.length;
        this.#streamedInput += part.delta.length;
        return null;
      case "tool-call":
        this.#countInput(part.input.length);
        if (!part.providerExecuted) {
          reply.calls.push({
            callId: part.toolCallId,
            tool: part.toolName,
            input: part.input,
            ...(part.providerMetadata && { metadata: part.providerMetadata }),
          });
        }
        return null;
      case "response-metadata":
        reply.modelId = part.modelId ?? reply.modelId;
        return null;
      case "finish":
        this.finished = true;
        reply.finish = part.finishReason.unified;
        reply.usage = part.usage;
        return null;
      case "error":
        this.error = part.error;
        return null;
      default:
        return null;
    }
  }

  #countInput(chars: number): void {
    const counted = Math.min(chars, this.#streamedInput);
    this.#streamedInput -= counted;
    this.chars += chars - counted;
  }
}

/** Ids of providers are far shorter; a longer one is no id but text, and would not fit into a file's name. */
const MAX_ID_CHARS = 128;

/** What tells which ids of calls are taken. */
type CallIds = { readonly turn: number; readonly callIds: Set<string> };

/** Gives every call an id that is its own within the run, whatever the model sent. */
export function distinctCalls(run: CallIds, calls: readonly ToolCall[]): ToolCall[] {
  return calls.map((call, index) => {
    const usable = call.callId && call.callId.length <= MAX_ID_CHARS && !run.callIds.has(call.callId);
    const callId = usable ? call.callId : freeId(run, index);
    run.callIds.add(callId);
    return usable ? call : { ...call, callId };
  });
}

/** A model may well have sent an id that looks like ours. */
function freeId({ turn, callIds }: CallIds, index: number): string {
  let id = `call_${turn}_${index}`;
  for (let copy = 2; callIds.has(id); copy++) id = `call_${turn}_${index}_${copy}`;
  return id;
}

/** Hides secrets in all of a reply that is kept, before the first write; a tool still gets what the model wrote. */
export function hideSecrets(reply: Reply, redactor: Redactor): void {
  const hide = endsWhole(reply.finish) ? redactor.redact : redactor.redactCut;
  reply.text = hide(reply.text);
  // A provider signs its reasoning and takes it back only unchanged, so what holds a secret is left out.
  reply.reasoning = reply.reasoning.filter(({ text }) => redactor.redact(text) === text);
  if (reply.modelId) reply.modelId = redactor.redact(reply.modelId);
  for (const call of reply.calls) {
    call.tool = redactor.redact(call.tool);
    if (redactor.redact(call.callId) !== call.callId) call.callId = "";
    const hidden = hiddenInput(hide(call.input), redactor);
    if (hidden === call.input) continue;
    call.rawInput = call.input;
    call.input = hidden;
  }
}

/** A secret can also be spelled with the escapes of JSON, which only the parsed value shows. */
function hiddenInput(hidden: string, redactor: Redactor): string {
  if (!hidden.includes("\\")) return hidden;
  const parsed = parseJson(hidden);
  if (!parsed.ok) return hidden;
  const value = redactor.redactJson(parsed.value);
  return value === parsed.value ? hidden : JSON.stringify(value);
}
