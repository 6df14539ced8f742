import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolResultOutput,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { isRecord } from "../../schema/json-object.ts";
import { ModelError } from "../model-error.ts";

/** An image as both wire formats take it. */
export type Image = { mediaType: string; base64: string } | { url: string };

/** What a file part becomes: an image, or text that was text all along. Other kinds are refused by name. */
export function imageOrText(
  part: Pick<LanguageModelV4FilePart, "data" | "mediaType" | "filename">,
): Image | string {
  if (part.data.type === "text") return part.data.text;
  if (part.mediaType.startsWith("image")) {
    if (part.data.type === "url") return { url: part.data.originalUrl ?? part.data.url.href };
    if (part.data.type === "data")
      return { mediaType: imageType(part.mediaType), base64: base64Of(part.data.data) };
  }
  throw new ModelError({
    type: "params",
    message: `a file of type '${part.mediaType}'${part.filename ? ` (${part.filename})` : ""} cannot be sent to this model; images and plain text can`,
  });
}

function base64Of(data: Uint8Array | string): string {
  return typeof data === "string"
    ? data
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}

function imageType(mediaType: string): string {
  return /^image\/[^*]/.test(mediaType) ? mediaType : "image/png";
}

/** A tool's output as the text the model reads. */
export function toolOutputText(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return JSON.stringify(output.value);
    case "execution-denied":
      return output.reason ? `Denied: ${output.reason}` : "Denied.";
    case "content":
      return output.value.map(contentText).join("\n");
  }
}

function contentText(
  part: Extract<LanguageModelV4ToolResultOutput, { type: "content" }>["value"][number],
): string {
  if (part.type === "text") return part.text;
  if (part.type === "custom") return "[content of a kind this model cannot read]";
  if (part.data.type === "text") return part.data.text;
  return `[${part.filename ?? "file"} of type ${part.mediaType}]`;
}

/** Whether a tool's output tells of a failure. */
export function isToolFailure(output: LanguageModelV4ToolResultOutput): boolean {
  return output.type === "error-text" || output.type === "error-json" || output.type === "execution-denied";
}

/** The input of an earlier call as an object, which servers insist on; text the model garbled is kept under one key. */
export function toolInput(input: unknown): Record<string, unknown> {
  if (isRecord(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  if (typeof input === "string") {
    try {
      const parsed: unknown = JSON.parse(input);
      if (isRecord(parsed)) return parsed;
    } catch {
      return { malformed_input: input };
    }
  }
  return { malformed_input: input };
}

/** The tools of a request that a model can be given; those that only some provider runs are left out with a warning. */
export function listFunctionTools(
  { tools = [] }: LanguageModelV4CallOptions,
  warnings: SharedV4Warning[],
): LanguageModelV4FunctionTool[] {
  return tools.flatMap((tool) => {
    if (tool.type === "function") return [tool];
    warnings.push({ type: "unsupported", feature: `provider tool ${tool.id}` });
    return [];
  });
}
