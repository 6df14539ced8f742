import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { isRecord } from "../../schema/json-object.ts";
import { brokenReply, modelError } from "../model-error.ts";
import { readCount, readString } from "../wire/json.ts";
import { type Fields, ModelReplyReader } from "../wire/model-reply-reader.ts";
import {
  imageOrText,
  isToolFailure,
  listFunctionTools,
  toolInput,
  toolOutputText,
} from "../wire/prompt-parts.ts";
import { createWireModel, type WireModel, type WireRequest, type WireSettings } from "../wire/wire-model.ts";
import { googleSchema } from "./google-schema.ts";

/** A model behind Google's Gemini API. */
export function createGoogleModel(settings: WireSettings): WireModel {
  const base = settings.baseUrl.replace(/\/+$/, "");
  return createWireModel(settings, {
    url: `${base}/${nameResource(settings.modelId)}:streamGenerateContent?alt=sse`,
    modelsUrl: `${base}/models?pageSize=1000`,
    key: settings.apiKey && { "x-goog-api-key": settings.apiKey },
    write: (options) => writeGoogleRequest(options, settings.modelId),
    reader: (options, call, emit) => new GoogleReader(options.prompt, call, emit),
  });
}

/** The id is part of the address, so nothing in it may lead elsewhere. */
function nameResource(modelId: string): string {
  const [, folder = "models", name = modelId] = /^(models|tunedModels)\/(.*)$/s.exec(modelId) ?? [];
  return `${folder}/${encodeURIComponent(name)}`;
}

type Part = Record<string, unknown>;
type Content = { role: "user" | "model"; parts: Part[]; fromTools?: boolean };
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

const THINKING_TOKENS = {
  none: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
} as const;
/** Google's own word for a call that another model made, which has no signature to show. */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** Writes a `generateContent` request. Options of `providerOptions.google` are passed through. */
export function writeGoogleRequest(options: LanguageModelV4CallOptions, modelId: string): WireRequest {
  const warnings: WireRequest["warnings"] = [];
  const system = options.prompt.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const text = system.filter((part) => part !== "").join("\n\n");
  const body = {
    ...options.providerOptions?.google,
    systemInstruction: text === "" ? undefined : { parts: [{ text }] },
    contents: writeContents(options.prompt, /gemini-([3-9]|\d\d)/.test(modelId)),
    ...toolFields(options, warnings),
    generationConfig: {
      maxOutputTokens: options.maxOutputTokens,
      temperature: options.temperature,
      topP: options.topP,
      topK: options.topK,
      seed: options.seed,
      presencePenalty: options.presencePenalty,
      frequencyPenalty: options.frequencyPenalty,
      stopSequences: options.stopSequences?.length ? options.stopSequences : undefined,
      thinkingConfig: writeThinking(options.reasoning, modelId),
      ...jsonFields(options.responseFormat),
    },
  };
  return { body: JSON.stringify(body), warnings };
}

/** Models of the second generation take a budget of thinking tokens, later ones a level. */
function writeThinking(reasoning: LanguageModelV4CallOptions["reasoning"], modelId: string): unknown {
  if (reasoning === undefined || reasoning === "provider-default") return undefined;
  const includeThoughts = reasoning !== "none";
  if (/gemini-2/.test(modelId)) return { includeThoughts, thinkingBudget: THINKING_TOKENS[reasoning] };
  const low = reasoning === "none" || reasoning === "minimal" || reasoning === "low";
  return { includeThoughts, thinkingLevel: low ? "low" : "high" };
}

function jsonFields(format: LanguageModelV4CallOptions["responseFormat"]): Record<string, unknown> {
  if (format?.type !== "json") return {};
  const responseSchema = format.schema && googleSchema(format.schema);
  return { responseMimeType: "application/json", ...(responseSchema && { responseSchema }) };
}

function toolFields(
  options: LanguageModelV4CallOptions,
  warnings: WireRequest["warnings"],
): Record<string, unknown> {
  const functionDeclarations = listFunctionTools(options, warnings).map(
    ({ name, description, inputSchema }) => ({ name, description, parameters: writeParameters(inputSchema) }),
  );
  if (functionDeclarations.length === 0) return {};
  const tools = [{ functionDeclarations }];
  const choice = options.toolChoice;
  if (!choice) return { tools };
  const mode = choice.type === "auto" ? "AUTO" : choice.type === "none" ? "NONE" : "ANY";
  const allowedFunctionNames = choice.type === "tool" ? [choice.toolName] : undefined;
  return { tools, toolConfig: { functionCallingConfig: { mode, allowedFunctionNames } } };
}

/** A function without parameters must not have an empty object of them. */
function writeParameters(inputSchema: object): unknown {
  const schema = googleSchema({ type: "object", ...inputSchema });
  return schema.properties === undefined && schema.anyOf === undefined ? undefined : schema;
}

/** Results of one turn's calls go together in one message right after it, as many as there were calls. */
function writeContents(prompt: LanguageModelV4CallOptions["prompt"], wantsSignatures: boolean): unknown[] {
  const contents: Content[] = [];
  const wireIds = new Map<string, string>();
  for (const message of prompt) {
    if (message.role === "system") continue;
    if (message.role === "assistant") {
      const parts = assistantParts(message.content, wantsSignatures, wireIds);
      if (parts.length > 0) contents.push({ role: "model", parts });
      continue;
    }
    const fromTools = message.role === "tool";
    const parts = fromTools ? resultParts(message, wireIds) : userParts(message);
    const last = contents.at(-1);
    if (fromTools && last?.fromTools) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role: "user", parts, fromTools });
  }
  return contents.map(({ role, parts }) => ({ role, parts }));
}

/** Newer models refuse a turn whose first call has no signature. */
function assistantParts(
  content: readonly AssistantPart[],
  wantsSignatures: boolean,
  wireIds: Map<string, string>,
): Part[] {
  let firstCall = true;
  return content.flatMap((part): Part[] => {
    const { thoughtSignature, id } = part.providerOptions?.google ?? {};
    const signed = typeof thoughtSignature === "string" ? { thoughtSignature } : undefined;
    if (part.type === "text") return part.text === "" && !signed ? [] : [{ text: part.text, ...signed }];
    if (part.type === "reasoning") return signed ? [{ text: part.text, thought: true, ...signed }] : [];
    if (part.type !== "tool-call") return [];
    if (typeof id === "string") wireIds.set(part.toolCallId, id);
    const signature = signed ?? (wantsSignatures && firstCall && { thoughtSignature: NO_SIGNATURE });
    firstCall = false;
    const functionCall = { ...writeId(id), name: part.toolName, args: toolInput(part.input) };
    return [{ functionCall, ...signature }];
  });
}

function resultParts(
  message: Extract<LanguageModelV4Message, { role: "tool" }>,
  wireIds: ReadonlyMap<string, string>,
): Part[] {
  return message.content
    .filter((part) => part.type === "tool-result")
    .map(({ toolCallId, toolName, output }) => {
      const text = toolOutputText(output);
      const response = isToolFailure(output) ? { error: text } : { output: text };
      return { functionResponse: { ...writeId(wireIds.get(toolCallId)), name: toolName, response } };
    });
}

/** Only ids that the server gave are known to it. */
function writeId(id: unknown): { id?: string } {
  return typeof id === "string" ? { id } : {};
}

function userParts(message: Extract<LanguageModelV4Message, { role: "user" }>): Part[] {
  return message.content.flatMap((part): Part[] => {
    const value = part.type === "text" ? part.text : imageOrText(part);
    if (typeof value === "string") return value === "" ? [] : [{ text: value }];
    if ("url" in value) return [{ fileData: { fileUri: value.url } }];
    return [{ inlineData: { mimeType: value.mediaType, data: value.base64 } }];
  });
}

/**
 * Reads a reply of `streamGenerateContent`. The format has no end mark, and a finish reason may be in every chunk, so a
 * reply is complete only when the body ends by its own framing after a finish reason.
 */
export class GoogleReader extends ModelReplyReader {
  #finishReason: string | undefined;
  #finishMessage = "";
  #usage: Fields | undefined;

  event(data: string): boolean {
    this.#chunk(this.parse(data));
    return false;
  }

  document(text: string): void {
    this.#chunk(this.parse(text));
    this.#complete();
  }

  override end(error: Error | undefined): void {
    if (error) throw error;
    this.#complete();
  }

  #chunk(chunk: Fields): void {
    this.refuseErrors(chunk);
    this.begin(chunk.responseId, chunk.modelVersion);
    if (isRecord(chunk.usageMetadata)) this.#usage = chunk.usageMetadata;
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    if (!isRecord(candidate)) {
      this.#checkPrompt(chunk.promptFeedback);
      return;
    }
    const parts = isRecord(candidate.content) ? candidate.content.parts : undefined;
    if (Array.isArray(parts)) for (const part of parts) if (isRecord(part)) this.#part(part);
    if (typeof candidate.finishReason === "string") this.#finishReason = candidate.finishReason;
    this.#finishMessage = readString(candidate.finishMessage) || this.#finishMessage;
  }

  /** A refused prompt gets no candidate at all, only the reason. */
  #checkPrompt(feedback: unknown): void {
    const reason = isRecord(feedback) ? readString(feedback.blockReason) : "";
    if (reason === "") return;
    const message = `the prompt was refused: ${reason}`;
    throw modelError(this.call, { type: "content_filter", message });
  }

  /** Signatures must come back with the very part they came with. Kinds of parts this reader does not know pass unread. */
  #part(part: Fields): void {
    const signature = readString(part.thoughtSignature);
    if (isRecord(part.functionCall)) this.#functionCall(part.functionCall, signature);
    if (typeof part.text !== "string" || (part.text === "" && signature === "")) return;
    this.blocks.add(part.thought === true ? "reasoning" : "text", part.text);
    if (signature !== "") this.blocks.remember({ google: { thoughtSignature: signature } });
  }

  #functionCall(sent: Fields, signature: string): void {
    const id = readString(sent.id);
    const google = { ...(signature && { thoughtSignature: signature }), ...(id && { id }) };
    const metadata = Object.keys(google).length > 0 ? { google } : undefined;
    this.addWholeCall({ id, name: readString(sent.name), input: sent.args, metadata });
  }

  #complete(): void {
    const raw = this.#finishReason;
    if (raw === undefined) throw this.incomplete();
    if (BROKEN.test(raw)) {
      const said = this.#finishMessage ? `: ${this.#finishMessage}` : "";
      throw brokenReply(this.call, `the model wrote a call that cannot be read (${raw})${said}`);
    }
    this.finish(raw, googleUsage(this.#usage));
  }
}

/** The server could not read what the model wrote and leaves it out. */
const BROKEN = /^(MALFORMED_|UNEXPECTED_TOOL_CALL|MISSING_THOUGHT_SIGNATURE)/;

/** Cached tokens are part of the prompt's count; thoughts and the prompts of tools are apart from the rest. */
export function googleUsage(usage: Fields | undefined): LanguageModelV4Usage {
  const prompt = readCount(usage?.promptTokenCount);
  const cacheRead = readCount(usage?.cachedContentTokenCount);
  const total = prompt === undefined ? undefined : prompt + (readCount(usage?.toolUsePromptTokenCount) ?? 0);
  const spoken = readCount(usage?.candidatesTokenCount);
  const reasoning = readCount(usage?.thoughtsTokenCount);
  const output =
    spoken === undefined && reasoning === undefined ? undefined : (spoken ?? 0) + (reasoning ?? 0);
  const noCache = total === undefined ? undefined : Math.max(0, total - (cacheRead ?? 0));
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: spoken, reasoning },
  };
}
