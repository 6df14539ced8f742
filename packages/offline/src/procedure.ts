import type { Agent } from "@retinue/core/schema/agent";

/** What a procedure knows of the agent it plays. */
export type OfflineAgent = Pick<Agent, "name" | "aliases" | "description">;

/** One call that the agent has made, and its answer. */
export type PastCall = {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Empty until it is answered. */
  readonly result: string;
  readonly failed: boolean;
};

/** An agent that may be delegated to. */
export type Delegate = { readonly name: string; readonly description: string };

/** All that a procedure decides by: what the conversation shows, and nothing else. */
export type Situation = {
  readonly agent: OfflineAgent;
  /** The first message. */
  readonly task: string;
  /** What a person or the host said later. */
  readonly later: readonly string[];
  readonly calls: readonly PastCall[];
  /** Names of the tools that may be called now. */
  readonly tools: readonly string[];
  readonly delegates: readonly Delegate[];
  /** Agents that the request must go to. */
  readonly demanded: readonly string[];
  /** The session's workspace, if the prompt names it. */
  readonly workspace?: string;
  /** Of an agent that works in phases: the one that is asked for. */
  readonly phase?: "assess" | "execute" | "format";
  /** The time of the request (ISO 8601 with its offset) and the zone it is meant in, if the prompt names them. */
  readonly now?: string;
  readonly timezone?: string;
  /** Nothing can be called any more: this is the last report. */
  readonly wrapUp: boolean;
  /** Earlier calls were condensed into a summary, so `calls` may lack some. */
  readonly condensed: boolean;
};

/** What to do next: call tools, answer, or say why the task is beyond rules, which fails the run. */
export type OfflineMove =
  | { readonly calls: readonly OfflineCall[]; readonly say?: string }
  | { readonly say: string }
  | {
      readonly cannot: string;
      /** What would help: `config`, a model; `params`, another request. `config` if absent. */
      readonly type?: "config" | "params";
    };

/** A call a procedure makes. */
export type OfflineCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };

/** How one kind of agent works without a model. The same situation always gives the same move. */
export type Procedure = {
  /** Names or aliases of the agents it plays. */
  readonly agents: readonly string[];
  /** Whether it takes this task of its agent; without it, it takes all. */
  takes?(situation: Situation): boolean;
  next(situation: Situation): OfflineMove;
};

/** The first procedure that plays an agent, by its name or else by an alias, and takes what it is asked. */
export function findProcedure(procedures: readonly Procedure[], situation: Situation): Procedure | undefined {
  const { agent } = situation;
  const taking = procedures.filter((each) => each.takes?.(situation) ?? true);
  return (
    taking.find(({ agents }) => agents.includes(agent.name)) ??
    taking.find(({ agents }) => agents.some((name) => agent.aliases.includes(name)))
  );
}

/** Calls that a procedure wants made before it goes on, worked out from the answers to earlier ones. */
export type CallStage = () => readonly OfflineCall[];

/** The call as it was made and answered, if it was made in exactly this form. */
export function findAnswer(calls: readonly PastCall[], { tool, input }: OfflineCall): PastCall | undefined {
  const written = JSON.stringify(input);
  return calls.find((past) => past.tool === tool && JSON.stringify(past.input) === written);
}

/** The calls of the first stage that has some to make; null when it is time to report, be it by a limit. */
export function findNextCalls(situation: Situation, stages: readonly CallStage[]): OfflineMove | null {
  if (situation.wrapUp || situation.condensed) return null;
  for (const stage of stages) {
    const calls = stage().filter((call) => !findAnswer(situation.calls, call));
    if (calls.length > 0) return { calls };
  }
  return null;
}

/** Calls that did not work, one line each. */
export function listFaults(calls: readonly PastCall[]): string[] {
  return calls
    .filter(({ failed }) => failed)
    .map(({ tool, input, result }) => {
      const about = input.path ?? input.pattern ?? input.query ?? input.command ?? "";
      return `${[tool, String(about)].filter(Boolean).join(" ")}: ${result.split("\n", 1)[0]}`;
    });
}

/** What a call gave, also if it failed; empty if it was not made. */
export function findResult(calls: readonly PastCall[], call: OfflineCall): string {
  return findAnswer(calls, call)?.result ?? "";
}

/** The calls among these that were answered without a failure. */
export function listAnswered(past: readonly PastCall[], calls: readonly OfflineCall[]): PastCall[] {
  return calls.flatMap((call) => {
    const answer = findAnswer(past, call);
    return answer && !answer.failed ? [answer] : [];
  });
}

/** The calls that did not work, as a section of a report; empty if there are none. */
export function reportFaults(faults: readonly string[]): string {
  return faults.length > 0 ? `Did not work:\n${faults.map((fault) => `- ${fault}`).join("\n")}` : "";
}
