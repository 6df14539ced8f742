import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { ScriptRequest, Step, StepMaker } from "./step.ts";

/** Steps used up one after the other, or the same steps for each conversation, or one function for all. */
export type Script =
  | readonly StepMaker[]
  | { eachRun: readonly StepMaker[] }
  | ((request: ScriptRequest) => Step | Promise<Step>);

/** A model that plays a script and remembers what it was asked. */
export type ScriptedModel = LanguageModelV4 & {
  readonly requests: readonly LanguageModelV4CallOptions[];
  /** Throws if steps are left over or a call came for which there was none. */
  assertDone(): void;
};

/** Creates a model that plays a script; an unexpected call fails that call and, later, `assertDone`. */
export function scriptedModel(name: string, script: Script): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = [];
  const unexpected: string[] = [];
  let used = 0;
  const nextStep = (request: ScriptRequest): Step | Promise<Step> => {
    const made = pick(script, request, () => used++);
    if (made) return typeof made === "function" ? made(request) : made;
    unexpected.push(
      `${name} was called once more than its script has steps; last message: ${request.last.slice(0, 300)}`,
    );
    return {
      kind: "fail",
      error: Object.assign(new Error(unexpected.at(-1)), { type: "bad_response", recoverable: false }),
    };
  };
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: name,
    supportedUrls: {},
    requests,
    async doStream(options) {
      requests.push({ ...options, prompt: structuredClone(options.prompt) });
      return { stream: await play(await nextStep(requestOf(options)), options) };
    },
    doGenerate() {
      throw new Error("a scripted model only streams");
    },
    assertDone() {
      const left = Array.isArray(script) ? script.length - used : 0;
      if (unexpected.length > 0) throw new Error(unexpected.join("\n"));
      if (left > 0) throw new Error(`${name} has ${left} steps of its script left`);
    },
  };
}

function pick(script: Script, request: ScriptRequest, use: () => number): StepMaker | undefined {
  if (typeof script === "function") return script;
  return "eachRun" in script ? script.eachRun[request.turn] : script[use()];
}

async function play(
  step: Step,
  options: LanguageModelV4CallOptions,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  if (step.kind === "wait") {
    await step.until;
    return play(step.step, options);
  }
  if (step.kind === "hang") return new Promise(() => {});
  if (step.kind === "fail") throw step.error;
  const parts = step.kind === "parts" ? step.parts : partsOf(step, options);
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        const part = parts[at++];
        if (part) controller.enqueue(part);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The stream parts of an ordinary reply. */
export function partsOf(
  step: Extract<Step, { kind: "reply" }>,
  options?: LanguageModelV4CallOptions,
): LanguageModelV4StreamPart[] {
  const parts: LanguageModelV4StreamPart[] = [];
  if (step.text) {
    parts.push(
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: step.text },
      { type: "text-end", id: "t" },
    );
  }
  for (const [index, call] of step.calls.entries()) {
    const input = typeof call.input === "string" ? call.input : JSON.stringify(call.input);
    const turn = options ? turnOf(options.prompt) : 0;
    parts.push({
      type: "tool-call",
      toolCallId: call.id ?? `call-${turn}-${index}`,
      toolName: call.tool,
      input,
    });
  }
  const chars = options ? JSON.stringify(options.prompt).length : 0;
  const input = step.usage && "input" in step.usage ? step.usage.input : Math.ceil(chars / 4);
  const output =
    step.usage && "output" in step.usage ? step.usage.output : Math.ceil(step.text.length / 4) + 1;
  const unified = (step.finish ?? (step.calls.length > 0 ? "tool-calls" : "stop")) as "stop";
  parts.push({
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: step.usage?.cacheRead, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: step.usage?.reasoning },
    },
  });
  return parts;
}

function requestOf(options: LanguageModelV4CallOptions): ScriptRequest {
  const { prompt } = options;
  const texts = prompt.map(textOf);
  return {
    options,
    turn: turnOf(prompt),
    task: texts[prompt.findIndex((message) => message.role === "user")] ?? "",
    last: texts.at(-1) ?? "",
    get prompt() {
      return texts.join("\n");
    },
  };
}

function turnOf(prompt: LanguageModelV4Prompt): number {
  return prompt.reduce((count, message) => (message.role === "assistant" ? count + 1 : count), 0);
}

function textOf(message: LanguageModelV4Prompt[number]): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "tool-result" && "value" in part.output) return String(part.output.value);
      return "";
    })
    .join("\n");
}
