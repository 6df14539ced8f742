import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { RuntimeInternals } from "@retinue/core/host/create-host";
import type { RunResult } from "@retinue/core/schema/result";
import { type Script, type TestRuntime, type TestRuntimeOptions, testRuntime } from "@retinue/core/testing";
import { type AnyTool, defineTool, type ToolDefinition } from "@retinue/core/tools/tool";
import { expect } from "vitest";
import { GUARDS_OFF, type NamedGuards } from "./guards-off.ts";
import { watchHeldPlaces } from "./held-places.ts";

/** The place of one attack: folders inside and outside the runtime's reach, and what really happened in it. */
export type World = {
  readonly projectDir: string;
  readonly dataDir: string;
  /** Belongs to nobody in the runtime. */
  readonly outsideDir: string;
  /** The case must fail now: set where its protection is no guard, so that the case itself breaks what it checks. */
  readonly broken: boolean;
  /** What is switched off, for a case that builds a runtime of its own. */
  readonly off: RuntimeInternals;
  /** Inputs with which each fake tool really ran. */
  readonly ran: Map<string, unknown[]>;
  /** Anything else that a case counts outside the runtime. */
  readonly seen: unknown[];
  /** Replayable: the same seed, the same numbers. */
  readonly random: () => number;
  /** A fake tool that only notes that it ran. */
  tool(name: string, more?: Partial<ToolDefinition<Record<string, unknown>>>): AnyTool;
  /** Runs when the attack is over, whatever came of it. */
  atEnd(work: () => unknown): void;
  /** How often a fake tool ran. */
  count(name: string): number;
};

/** What came of an attack. */
export type Outcome = { world: World; t: TestRuntime; result: RunResult };

/** What protects from an attack: guards that can be switched off, or the reason why none can. */
type Protection =
  /** With all of these switched off the case must fail. */
  | { guards: NamedGuards; noGuard?: never }
  /** Why there is no guard to name; `world.broken` must make the case fail. */
  | { noGuard: string; guards?: never };

/** One attack as data. The first script's agent is the root; models obey every injection. */
export type Attack = Protection & {
  id: string;
  title: string;
  /** What must be on the machine for it; without that it is skipped. */
  needs?: "bubblewrap";
  /** It takes seconds to do its harm: that it does so without its guards is shown in the deep tests. */
  slow?: true;
  /** How many seeds it is played with; 1 if absent. */
  seeds?: number;
  setup?: (world: World) => TestRuntimeOptions | Promise<TestRuntimeOptions>;
  turns: (world: World) => Readonly<Record<string, Script>>;
  /** How the root run is started; by default with the task "go". */
  act?: (t: TestRuntime, world: World) => Promise<RunResult>;
  /** Judges from outside the runtime. */
  oracle: (outcome: Outcome) => void | Promise<void>;
};

/** How long an attack may take; the deep tests count to the end. */
export const ATTACK_TIMEOUT_MS = process.env.RETINUE_DEEP === "1" ? 3_600_000 : 60_000;

/** Plays an attack, with each of its seeds, against a real runtime and lets its oracle judge. */
export async function play(attack: Attack, how: "guarded" | "unguarded" = "guarded"): Promise<void> {
  for (let seed = 1; seed <= (attack.seeds ?? 1); seed++) {
    await playOnce(attack, how, seed).catch((thrown: Error) => {
      thrown.message = `with seed ${seed}: ${thrown.message}`;
      throw thrown;
    });
  }
}

async function playOnce(attack: Attack, how: "guarded" | "unguarded", seed: number): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "retinue-attack-"));
  using places = watchHeldPlaces();
  const endings: (() => unknown)[] = [];
  const unguarded = how === "unguarded";
  const off = merge(unguarded ? (attack.guards ?? []).map((name) => GUARDS_OFF[name]) : []);
  const world = createWorld(root, { seed, endings, off, broken: unguarded && attack.guards === undefined });
  try {
    const { internals = {}, ...options } = (await attack.setup?.(world)) ?? {};
    const scripts = attack.turns(world);
    const t = testRuntime(scripts, {
      lenient: true,
      projectDir: world.projectDir,
      dataDir: world.dataDir,
      ...options,
      internals: merge([internals, off]),
    });
    try {
      const agent = Object.keys(scripts)[0] ?? "";
      const result = await (attack.act?.(t, world) ?? t.runtime.run({ agent, task: "go" }));
      await attack.oracle({ world, t, result });
      if (!unguarded) places.expectNone();
    } finally {
      await t.close();
    }
    if (!unguarded) places.expectNone();
  } finally {
    for (const end of endings) await end();
    rmSync(root, { recursive: true, force: true });
  }
}

type WorldParts = Pick<World, "broken" | "off"> & { seed: number; endings: (() => unknown)[] };

function createWorld(root: string, { seed, broken, off, endings }: WorldParts): World {
  const folder = (name: string) => {
    const path = join(root, name);
    mkdirSync(path);
    return path;
  };
  const ran = new Map<string, unknown[]>();
  return {
    atEnd: (work) => void endings.push(work),
    projectDir: folder("project"),
    dataDir: join(root, "data"),
    outsideDir: folder("outside"),
    broken,
    off,
    random: seeded(seed),
    ran,
    seen: [],
    count: (name) => ran.get(name)?.length ?? 0,
    tool: (name, { execute, ...more } = {}) =>
      defineTool<Record<string, unknown>>({
        name,
        description: `Notes that ${name} ran.`,
        input: { type: "object" },
        replay: "safe",
        ...more,
        execute: async (input, context) => {
          ran.set(name, [...(ran.get(name) ?? []), input]);
          return execute?.(input, context) ?? `${name} ran`;
        },
      }),
  };
}

/** Numbers from 0 to 1, excluded (the generator known as mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function merge(parts: readonly RuntimeInternals[]): RuntimeInternals {
  const guards: RuntimeInternals["guards"] = Object.assign({}, ...parts.map((part) => part.guards));
  return Object.assign({}, ...parts, { guards });
}

/** The results a model was given for its calls, in order, from the prompt of its nth request (default: the last). */
export function resultsSeen(
  t: TestRuntime,
  agent: string,
  nth = -1,
): { tool: string; callId: string; text: string; isError: boolean }[] {
  const prompt = t.models[agent]?.requests.at(nth)?.prompt ?? [];
  return prompt.flatMap((message) => {
    if (message.role !== "tool") return [];
    return message.content.flatMap((part) => {
      if (part.type !== "tool-result" || !("value" in part.output)) return [];
      const { type, value } = part.output;
      return [
        {
          tool: part.toolName,
          callId: part.toolCallId,
          text: String(value),
          isError: type.startsWith("error"),
        },
      ];
    });
  });
}

/** Names of the tools a model was offered in its nth request. */
export function offered(t: TestRuntime, agent: string, nth = 0): string[] {
  return offeredBy(t.models[agent]?.requests[nth]);
}

/** Names of the tools a request offers. */
export function offeredBy(request: LanguageModelV4CallOptions | undefined): string[] {
  return request?.tools?.map((tool) => tool.name) ?? [];
}

/** Every row of every session is closed and every run that began has ended. */
export async function expectSettled(t: TestRuntime): Promise<void> {
  const started = t.events.flatMap((event) => (event.type === "run.started" ? [event.runId] : []));
  const ended = t.events.flatMap((event) => (event.type === "run.ended" ? [event.runId] : []));
  expect(ended.toSorted()).toEqual(started.toSorted());
  for (const { session_id } of (await t.runtime.record.listSessions()).sessions) {
    expect(
      (await t.runtime.record.readRows({ sessionId: session_id })).filter((row) => row.closed_seq === null),
    ).toEqual([]);
  }
}
