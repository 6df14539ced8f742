import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import type { Transport, TransportReply } from "../../schema/transport.ts";
import type { CallContext } from "../model-error.ts";
import { createThrownError, readReplyError } from "./classify-error.ts";
import { collectParts } from "./collect-parts.ts";
import { type ModelList, readModelList, withAvailableModels } from "./list-models.ts";
import type { Emit, ReplyLimits, WireReader } from "./read-reply.ts";
import { readReply } from "./read-reply.ts";

/** A model that can also hand its parts to a callback, which saves the web stream. Rejects with `ModelError`. */
export type StreamingModel = LanguageModelV4 & {
  stream(options: LanguageModelV4CallOptions, onPart: Emit): Promise<void>;
};

/** A model behind a server, which can also be asked what else it has. */
export type WireModel = StreamingModel & {
  /** Asks for nothing but the list of models. Rejects with `TransportError`. */
  listModels(signal?: AbortSignal): Promise<ModelList>;
};

/** What a wire format needs to know to serve one model. */
export type WireSettings = {
  /** The provider's name in settings, for ids and messages. */
  provider: string;
  modelId: string;
  baseUrl: string;
  apiKey?: string;
  apiKeyEnv?: string;
  headers?: Readonly<Record<string, string>>;
  transport: Transport;
  limits?: Partial<ReplyLimits>;
};

/** A request as a wire format writes it. */
export type WireRequest = {
  body: string;
  warnings: Extract<LanguageModelV4StreamPart, { type: "stream-start" }>["warnings"];
};

/** One way of speaking to a server. */
export type WireFormat = {
  url: string;
  /** Where the server lists its models. */
  modelsUrl: string;
  /** The headers that carry the key, and others of its own. */
  key?: Readonly<Record<string, string>> | "" | undefined;
  /** The type of a streamed reply; an event stream if absent. */
  accept?: string;
  write(options: LanguageModelV4CallOptions): WireRequest;
  reader(options: LanguageModelV4CallOptions, call: CallContext, emit: Emit): WireReader;
};

const DEFAULT_LIMITS: ReplyLimits = { maxLineBytes: 16 * 1024 * 1024, maxReplyBytes: 32 * 1024 * 1024 };
/** Parts a slow reader of the web stream may leave waiting before the sender is held back. */
const BUFFERED_PARTS = 256;

/** Makes a model out of a wire format: one request, one reply, read as it comes. */
export function createWireModel(settings: WireSettings, format: WireFormat): WireModel {
  const call = callContext(settings, format);
  const limits = { ...DEFAULT_LIMITS, ...settings.limits };
  const ownHeaders = {
    "content-type": "application/json",
    accept: format.accept ?? "text/event-stream",
    ...format.key,
    ...settings.headers,
  };
  const listModels = async (signal?: AbortSignal) =>
    readModelList(await settings.transport.get(format.modelsUrl, { headers: ownHeaders, signal }));
  /** No async function, which would keep the body's text until the reply begins. */
  const send = (options: LanguageModelV4CallOptions): Sent => {
    const headers = addHeaders(ownHeaders, options.headers);
    const { body, warnings } = format.write(options);
    const signal = options.abortSignal;
    const reply = settings.transport.post(format.url, { headers, body, signal });
    return { reply, first: { type: "stream-start", warnings } };
  };
  const refuse = async (reply: TransportReply, { abortSignal }: LanguageModelV4CallOptions) => {
    const error = await readReplyError(reply, call);
    throw await withAvailableModels(error, call, () => listModels(abortSignal));
  };
  const stream = async (options: LanguageModelV4CallOptions, onPart: Emit): Promise<void> => {
    try {
      const { reply: sent, first } = send(options);
      const reply = await sent;
      if (!isAccepted(reply)) return await refuse(reply, options);
      onPart(first);
      await readReply(reply, format.reader(options, call, onPart), limits);
    } catch (thrown) {
      throw createThrownError(thrown, call, options.abortSignal);
    }
  };
  const doStream = async (options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> => {
    const fail = (thrown: unknown) => createThrownError(thrown, call, options.abortSignal);
    try {
      const { reply: sent, first } = send(options);
      const reply = await sent;
      if (!isAccepted(reply)) return await refuse(reply, options);
      const read = (emit: Emit) => readReply(reply, format.reader(options, call, emit), limits);
      return { stream: webStream({ reply, first }, read, fail) };
    } catch (thrown) {
      throw fail(thrown);
    }
  };
  return {
    specificationVersion: "v4",
    provider: settings.provider,
    modelId: settings.modelId,
    supportedUrls: {},
    stream,
    doStream,
    listModels,
    doGenerate: (options) => collectParts((onPart) => stream(options, onPart)),
  };
}

function callContext(settings: WireSettings, format: WireFormat): CallContext {
  const secrets = [settings.apiKey, ...Object.values(settings.headers ?? {})].filter(
    (value) => value !== undefined,
  );
  return {
    provider: settings.provider,
    modelId: settings.modelId,
    host: URL.parse(format.url)?.host ?? "?",
    secrets: secrets.filter((value) => value.length >= 8),
    ...(settings.apiKeyEnv && { apiKeyEnv: settings.apiKeyEnv }),
  };
}

function addHeaders(
  own: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string | undefined>> | undefined,
): Readonly<Record<string, string>> {
  if (!added) return own;
  const headers: Record<string, string> = { ...own };
  for (const [name, value] of Object.entries(added))
    if (value !== undefined) headers[name.toLowerCase()] = value;
  return headers;
}

/** A call on its way, and what its caller is told first once it is accepted. */
type Sent = { reply: Promise<TransportReply>; first: LanguageModelV4StreamPart };

function isAccepted({ status }: TransportReply): boolean {
  return status >= 200 && status < 300;
}

/** A failure in the middle of a reply is an `error` part, after which the stream closes without `finish`. */
function webStream(
  { reply, first }: { reply: TransportReply; first: LanguageModelV4StreamPart },
  read: (emit: Emit) => Promise<void>,
  fail: (thrown: unknown) => Error,
): ReadableStream<LanguageModelV4StreamPart> {
  let cancelled = false;
  let paused = false;
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      start(controller) {
        controller.enqueue(first);
        const emit: Emit = (part) => {
          if (cancelled) return;
          controller.enqueue(part);
          if (paused || (controller.desiredSize ?? 1) > 0) return;
          paused = true;
          reply.pause();
        };
        read(emit)
          .catch((thrown) => emit({ type: "error", error: fail(thrown) }))
          .then(() => cancelled || controller.close());
      },
      pull() {
        if (paused) reply.resume();
        paused = false;
      },
      cancel() {
        cancelled = true;
        reply.destroy();
      },
    },
    { highWaterMark: BUFFERED_PARTS },
  );
}
