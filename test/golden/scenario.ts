import type { GoldenClock } from "./golden-clock.ts";
import type { OpenAiServer } from "./openai-server.ts";
import type {
  AgentInput,
  AnyTool,
  RetinueEvent,
  RunRequest,
  Runtime,
  RuntimeOptions,
  Script,
  ScriptedModel,
  Settings,
} from "./retinue.ts";

/** What a scenario acts on while it is played. */
export type Stage = {
  runtime: Runtime;
  clock: GoldenClock;
  models: Readonly<Record<string, ScriptedModel>>;
  events: readonly RetinueEvent[];
  projectDir: string;
  /** Waits until something holds. */
  until(holds: () => boolean): Promise<void>;
};

/** What models say, by agent. */
export type Scripts = Readonly<Record<string, Script>>;

/** One session, or a few, that the program plays today exactly as it played them when they were recorded. */
export type Scenario = {
  /** What happens, in a sentence. */
  title: string;
  /** What the models say, by agent; agents without a script work offline. Names that no built-in agent has are agents of their own. */
  scripts?: Scripts | (() => Scripts);
  /** Fields of those agents; the first of them may delegate to all others that have a script. */
  agents?: Readonly<Record<string, Partial<AgentInput>>>;
  /** Agents that play no script of their own. */
  more?: readonly AgentInput[];
  tools?: readonly AnyTool[];
  settings?: Partial<Settings> | ((projectDir: string) => Partial<Settings>);
  options?: Partial<
    Pick<RuntimeOptions, "approve" | "onAsk" | "permissionMode" | "allowedTools" | "disallowedTools">
  >;
  /** A model that is asked over HTTP, by the name `local/mock`. */
  server?: OpenAiServer;
  /** Files of the project. */
  files?: Readonly<Record<string, string>>;
  /** The task, for scenarios of one run. */
  request?: RunRequest;
  /** What is done instead; the answer is recorded. */
  play?(stage: Stage): Promise<unknown>;
  /** The process is killed at this moment; another one, in which the models say this, resumes the session. */
  killed?: { when(stage: Stage): boolean; afterwards: Scripts };
  /** Where the session's replay in another process is known to differ, which is a defect; absent: nowhere. */
  replayDiffersAt?: string;
  /** Runs go on at once, so that only the order within each of them is compared. */
  isParallel?: true;
};

/** Keeps the type of a scenario. */
export function defineScenario(scenario: Scenario): Scenario {
  return scenario;
}
