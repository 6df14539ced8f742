// How the tools of this pack are defined: those that read, and those that plan, show and do one write.

import { createHash } from "node:crypto";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import type { Target } from "@retinue/core/schema/rights";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "@retinue/core/tools/tool";
import { createServices, type Services, type ToolDesk } from "./call-service.ts";
import { ToolFault, toFault } from "./tool-fault.ts";
import { cutText, type ToolAnswer, writeJsonOutput, writeVisibleJson } from "./tool-output.ts";

type Fields = Readonly<Record<string, JsonSchema>>;

type ValueIn<Schema> = Schema extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Schema extends { readonly type: "string" }
    ? string
    : Schema extends { readonly type: "integer" }
      ? number
      : Schema extends { readonly type: "boolean" }
        ? boolean
        : Schema extends { readonly items: infer Item }
          ? ValueIn<Item>[]
          : unknown;

/** The type of a tool's input, from the properties in its schema. */
export type ToolInput<Given, Needed extends keyof Given = never> = {
  [Name in Needed]: ValueIn<Given[Name]>;
} & { [Name in Exclude<keyof Given, Needed>]?: ValueIn<Given[Name]> };

type Described<Given extends Fields, Needed extends keyof Given> = {
  readonly name: string;
  readonly description: string;
  readonly group: "email" | "calendar" | "contacts" | "slack";
  readonly properties: Given;
  readonly required?: readonly Needed[];
  /** What is wrong with an input that fits the schema. */
  readonly check?: (input: ToolInput<Given, Needed>) => string | null;
};

/** A text of the input, which is never empty. */
export function describeText(maxLength: number, description?: string) {
  return { type: "string", minLength: 1, maxLength, description } as const;
}

/** A day or time of the input, ISO 8601. */
export function describeMoment(description: string) {
  return { type: "string", minLength: 10, maxLength: 40, description } as const;
}

/** How many items at the most the input asks for. */
export function describeLimit(maximum: number, usual: number) {
  return { type: "integer", minimum: 1, maximum, description: `${usual} by default.` } as const;
}

/** People of the input: addresses, or names of contacts and lists. */
export function describePeople(description: string) {
  return { type: "array", maxItems: 100, items: describeText(400), description } as const;
}

/** A tool as it is made for a desk. */
type ToolMaker<Input extends object> = (desk: ToolDesk) => Tool<Input>;

/** A tool that only reads. */
type ReadDefinition<Given extends Fields, Needed extends keyof Given> = Described<Given, Needed> & {
  /** Its output is other people's text. */
  readonly untrusted?: boolean;
  readonly run: (input: ToolInput<Given, Needed>, services: Services) => Promise<ToolAnswer>;
};

/** What a write needs besides its input. */
type WriteCall<Plan> = { readonly plan: Plan; readonly services: Services; readonly key: string };

/** A tool that changes something. Its plan is what a call will do: made once, then judged, shown and carried out. */
type WriteDefinition<Given extends Fields, Needed extends keyof Given, Plan> = Described<Given, Needed> & {
  readonly plan: (input: ToolInput<Given, Needed>, services: Services) => Promise<Plan>;
  /** Whom the call reaches. */
  readonly reaches: (plan: Plan) => readonly string[];
  readonly outbound: boolean | ((input: ToolInput<Given, Needed>) => boolean);
  /** Why a person must confirm the call, which then is a high risk; null if nobody must. */
  readonly confirm?: (plan: Plan) => string | null;
  /** The call as a person must see it before a yes. */
  readonly present: (plan: Plan, services: Services) => Promise<string>;
  readonly run: (input: ToolInput<Given, Needed>, call: WriteCall<Plan>) => Promise<ToolAnswer>;
  /** What `run` would answer if the call has happened already; null if it has not. */
  readonly find: (
    input: ToolInput<Given, Needed>,
    call: Omit<WriteCall<Plan>, "plan">,
  ) => Promise<ToolAnswer | null>;
};

/** How long finding out whom a call reaches may take. */
const PLAN_MS = 120_000;
/** A server's words may be of any length. */
const MAX_MESSAGE = 2_000;

/** Defines a tool that only reads. */
export function readTool<const Given extends Fields, const Needed extends keyof Given & string = never>(
  definition: ReadDefinition<Given, Needed>,
): ToolMaker<ToolInput<Given, Needed>> {
  const { name, run, untrusted = false } = definition;
  return (desk) =>
    defineTool<ToolInput<Given, Needed>>({
      ...describeTool(definition),
      risk: "low",
      replay: "safe",
      untrusted,
      execute: (input, { signal }) =>
        answerCall(name, signal, () => run(input, createServices(desk, name, signal))),
    });
}

/** Defines a tool that changes something, with a person's view of it. */
export function writeTool<const Given extends Fields, const Needed extends keyof Given & string, Plan>(
  definition: WriteDefinition<Given, Needed, Plan>,
): ToolMaker<ToolInput<Given, Needed>> {
  const { name, outbound, reaches, confirm, present, run, find } = definition;
  return (desk) => {
    const findPlan = createPlanner(desk, definition);
    return defineTool<ToolInput<Given, Needed>>({
      ...describeTool(definition),
      replay: "lookup",
      outbound,
      access: async (input) => reaches(await findPlan(input)).map(toTarget),
      risk: async (input) => ((confirm?.(await findPlan(input)) ?? null) === null ? "medium" : "high"),
      ...(confirm && { confirm: async (input) => confirm(await findPlan(input)) }),
      present: async (input) => {
        const plan = await findPlan(input);
        return runInTime((services) => present(plan, services), desk, name);
      },
      lookup: async (input, { signal, ...call }) => {
        const found = await find(input, {
          services: createServices(desk, name, signal),
          key: buildCallKey(call),
        });
        return found?.tainted ? writeJsonOutput(found) : found && writeVisibleJson(found.data);
      },
      execute: (input, context) =>
        answerCall(name, context.signal, async () => {
          const plan = await findPlan(input);
          refuseOthers(reaches(plan), context.targets);
          const services = createServices(desk, name, context.signal);
          return run(input, { plan, services, key: buildCallKey(context) });
        }),
    });
  };
}

function describeTool<Given extends Fields, Needed extends keyof Given>(tool: Described<Given, Needed>) {
  const { name, description, group, properties, required = [], check } = tool;
  return {
    name,
    description,
    groups: [group],
    input: { type: "object", properties, required, additionalProperties: false },
    ...(check && {
      check: (input: ToolInput<Given, Needed>) => {
        const wrong = check(input);
        return wrong === null ? null : writeFault(new ToolFault("params", wrong), name).text;
      },
    }),
  };
}

/** One plan for each call, so that what is judged and shown is what is done. */
function createPlanner<Input extends object, Plan>(
  desk: ToolDesk,
  { name, plan }: { name: string; plan: (input: Input, services: Services) => Promise<Plan> },
): (input: Input) => Promise<Plan> {
  const plans = new WeakMap<Input, Promise<Plan>>();
  return (input) => {
    let planned = plans.get(input);
    if (!planned) {
      planned = runInTime((services) => plan(input, services), desk, name).catch((thrown: unknown) => {
        throw new PlanError(thrown, name);
      });
      plans.set(input, planned);
    }
    return planned;
  };
}

/** Looks something up before a call may act. A run's cancellation does not reach here, so a time limit ends it. */
async function runInTime<Value>(
  work: (services: Services) => Promise<Value>,
  desk: ToolDesk,
  tool: string,
): Promise<Value> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new ToolFault("network", `no service said within ${PLAN_MS / 1_000} s whom this call reaches`));
      stop.abort();
    }, PLAN_MS);
  });
  try {
    return await Promise.race([work(createServices(desk, tool, stop.signal)), late]);
  } finally {
    clearTimeout(timer);
  }
}

function toTarget(address: string): Target {
  return { kind: "recipient", address };
}

/** Refuses a call that would reach anybody whom the rights were not checked for. */
function refuseOthers(reached: readonly string[], targets: readonly Target[]): void {
  const allowed = new Set(targets.flatMap((target) => (target.kind === "recipient" ? [target.address] : [])));
  const other = reached.find((address) => !allowed.has(address));
  if (other !== undefined || allowed.size !== new Set(reached).size)
    throw new ToolFault("params", "whom this call reaches has changed since it was allowed; make it again");
}

async function answerCall(tool: string, signal: AbortSignal, work: () => Promise<ToolAnswer>) {
  try {
    return writeJsonOutput(await work());
  } catch (thrown) {
    signal.throwIfAborted();
    return writeFault(thrown instanceof PlanError ? thrown.cause : thrown, tool);
  }
}

/** A plan that failed before its tool ran: its caller has only the message to show. */
class PlanError extends Error {
  constructor(cause: unknown, tool: string) {
    super(writeFault(cause, tool).text, { cause });
    this.name = "PlanError";
  }
}

/** A call's own mark, the same whenever the call is made again: 40 hexadecimal digits. */
function buildCallKey({
  sessionId,
  runId,
  callId,
}: Pick<ToolContext, "sessionId" | "runId" | "callId">): string {
  return createHash("sha256")
    .update(JSON.stringify([sessionId, runId, callId]))
    .digest("hex")
    .slice(0, 40);
}

/** A failure as the tools of this pack tell it: JSON that names its kind and whether a later attempt can help. */
export function writeFault(thrown: unknown, tool: string): ToolOutput {
  const fault = toFault(thrown);
  const { type, recoverable, retryAfterMs = Number.NaN } = fault;
  const message = cutText(fault.message, MAX_MESSAGE);
  const retryAfter = Number.isFinite(retryAfterMs) ? { retry_after: Math.ceil(retryAfterMs / 1_000) } : {};
  return {
    text: JSON.stringify({ error: { type, message, tool, recoverable, ...retryAfter } }),
    isError: true,
  };
}
