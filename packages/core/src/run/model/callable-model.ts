import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { OutputLimit } from "../../models/prices.ts";
import type { Agent } from "../../schema/agent.ts";
import type { Price } from "../../schema/settings.ts";

/** Streams a reply to a callback, which spares a web stream per call. It stops when its signal fires. */
export type StreamToCallback = (
  options: LanguageModelV4CallOptions,
  onPart: (part: LanguageModelV4StreamPart) => void,
) => Promise<void>;

/** A model that is made anew for each agent, such as one that plays rules: asked for by name, and used where nothing is configured. */
export type AgentModels = {
  /** What it can be asked for by, the ids of what it makes among them. */
  readonly names: readonly string[];
  /** Told once, when it steps in because nothing is configured. */
  readonly notice: string;
  create(agent: Agent): CallableModel | Promise<CallableModel>;
};

/** A model that a run can call, with what the ledger and the limiter need to know of it. */
export type CallableModel = {
  /** `provider/model-id`. */
  readonly id: string;
  readonly provider: string;
  readonly model: LanguageModelV4;
  /** Used instead of `model.doStream` where the provider has it. */
  readonly stream?: StreamToCallback;
  /** USD per million tokens; null if unknown. */
  readonly price: Price | null;
  /** How long its replies can be; absent: as nobody knows. */
  readonly output?: OutputLimit;
  /** What ends everything it answers, so that nobody takes it for another's words. */
  readonly label?: string;
  /** It uses no tokens at all, so that none are estimated for it. */
  readonly unmetered?: boolean;
  /** Called one after the other for a run whose model stays unavailable. */
  readonly fallbacks?: readonly CallableModel[];
  /** What children inherit in its place, for rules that lead one run only. */
  readonly passedOn?: CallableModel;
};
