import { type ModelReply, type ModelRequest, startModel } from "../cli/model.ts";
import { World } from "../cli/world.ts";

/** Something that waits until a test lets it continue. */
export type Held = { readonly waiting: number; release(): void };

/** A world with a small team: `lead` hands two parts to `mid`, each of which hands one on to `leaf`, which takes its time. */
export type Team = AsyncDisposable & {
  world: World;
  leaves: Held;
  requestsOf(agent: string): ModelRequest[];
};

/** Makes the team; `more` answers for agents that a test adds. */
export async function makeTeam(
  more: (
    request: ModelRequest,
    agent: string,
  ) => ModelReply | undefined | Promise<ModelReply | undefined> = () => undefined,
): Promise<Team> {
  const world = new World();
  // They are looked at for as long as a test takes, however slow the machine.
  const long = "limits: { minutes: 60 }";
  world.agent("lead", `subagents: { allow: [mid] }\n${long}\ndisplay: { icon: 🧭 }`);
  world.agent("mid", `subagents: { allow: [leaf] }\n${long}`);
  world.agent("leaf", `tools: [read]\n${long}`);
  const waiting = new Set<() => void>();
  let isOpen = false;
  const model = await startModel(async (request) => {
    const agent = agentOf(request);
    const other = await more(request, agent);
    if (other) return other;
    if (agent === "lead")
      return request.turn === 0 ? handOver("mid", ["north", "south"]) : { text: "Both sides are **known**." };
    if (agent === "mid")
      return request.turn === 0
        ? handOver("leaf", [sideOf(request)])
        : { text: `The ${sideOf(request)} is quiet.` };
    if (!isOpen) await new Promise<void>((resolve) => waiting.add(resolve));
    return { text: `Seen: ${sideOf(request)}.` };
  });
  world.model = model;
  return {
    world,
    leaves: {
      get waiting() {
        return waiting.size;
      },
      release() {
        isOpen = true;
        for (const resolve of waiting) resolve();
        waiting.clear();
      },
    },
    requestsOf: (agent) => model.requests.filter((request) => agentOf(request) === agent),
    async [Symbol.asyncDispose]() {
      for (const resolve of waiting) resolve();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Whose turn it is, by the prompt that `World.agent` writes. */
export function agentOf({ system }: ModelRequest): string {
  return /You are (\S+)\./.exec(system)?.[1] ?? "";
}

function sideOf({ all }: ModelRequest): string {
  return /look (north|south)/.exec(all)?.[1] ?? "?";
}

function handOver(agent: string, sides: readonly string[]): ModelReply {
  const tasks = sides.map((side) => ({ id: side, agent, task: `look ${side}` }));
  return { calls: [{ name: "delegate_many", input: { tasks } }] };
}
