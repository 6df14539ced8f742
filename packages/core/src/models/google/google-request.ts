import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { imageOrText, isToolFailure, toolInput, toolOutputText } from "../wire/prompt-parts.ts";
import type { WireRequest } from "../wire/wire-model.ts";
import { googleSchema } from "./google-schema.ts";

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
    contents: contentsOf(options.prompt, /gemini-([3-9]|\d\d)/.test(modelId)),
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
      thinkingConfig: thinkingOf(options.reasoning, modelId),
      ...jsonFields(options.responseFormat),
    },
  };
  return { body: JSON.stringify(body), warnings };
}

/** Models of the second generation take a budget of thinking tokens, later ones a level. */
function thinkingOf(reasoning: LanguageModelV4CallOptions["reasoning"], modelId: string): unknown {
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
  const functionDeclarations: unknown[] = [];
  for (const tool of options.tools ?? []) {
    if (tool.type === "function") {
      const { name, description, inputSchema } = tool;
      functionDeclarations.push({ name, description, parameters: parametersOf(inputSchema) });
    } else {
      warnings.push({ type: "unsupported", feature: `provider tool ${tool.id}` });
    }
  }
  if (functionDeclarations.length === 0) return {};
  const tools = [{ functionDeclarations }];
  const choice = options.toolChoice;
  if (!choice) return { tools };
  const mode = choice.type === "auto" ? "AUTO" : choice.type === "none" ? "NONE" : "ANY";
  const allowedFunctionNames = choice.type === "tool" ? [choice.toolName] : undefined;
  return { tools, toolConfig: { functionCallingConfig: { mode, allowedFunctionNames } } };
}

/** A function without parameters must not have an empty object of them. */
function parametersOf(inputSchema: object): unknown {
  const schema = googleSchema({ type: "object", ...inputSchema });
  return schema.properties === undefined && schema.anyOf === undefined ? undefined : schema;
}

/** Results of one turn's calls go together in one message right after it, as many as there were calls. */
function contentsOf(prompt: LanguageModelV4CallOptions["prompt"], wantsSignatures: boolean): unknown[] {
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
    const functionCall = { ...idOf(id), name: part.toolName, args: toolInput(part.input) };
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
      return { functionResponse: { ...idOf(wireIds.get(toolCallId)), name: toolName, response } };
    });
}

/** Only ids that the server gave are known to it. */
function idOf(id: unknown): { id?: string } {
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
