import type { JsonSchema } from "../../../schema/json-schema.ts";
import type { Target } from "../../../schema/rights.ts";
import { defineTool, type Risk, type Tool, type ToolContext } from "../../../tools/tool.ts";
import { faultOutput } from "../errors/fault-output.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { callKey } from "./call-key.ts";
import { type Desk, type Services, servicesFor } from "./services.ts";
import { type Answer, jsonOutput, jsonText } from "./tool-output.ts";

type Group = "email" | "calendar" | "contacts" | "slack";

type Described<Input> = {
  readonly name: string;
  readonly description: string;
  readonly group: Group;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** What is wrong with an input that fits the schema. */
  readonly check?: (input: Input) => string | null;
};

/** A tool that only reads. */
export type ReadDefinition<Input> = Described<Input> & {
  /** Its output is other people's text. */
  readonly untrusted?: boolean;
  readonly run: (input: Input, services: Services, context: ToolContext) => Promise<Answer>;
};

/** What a write needs besides its input. */
export type WriteCall<Plan> = { readonly plan: Plan; readonly services: Services; readonly key: string };

/** A tool that changes something. Its plan is what a call comes down to: found once, then judged, shown and done. */
export type WriteDefinition<Input, Plan> = Described<Input> & {
  readonly plan: (input: Input, services: Services) => Promise<Plan>;
  /** Whom the call reaches. */
  readonly reaches: (plan: Plan) => readonly string[];
  readonly risk: (plan: Plan) => Risk;
  readonly outbound: boolean | ((input: Input) => boolean);
  /** Why a person must confirm the call. */
  readonly confirm?: (plan: Plan) => string | null;
  /** The call as a person must see it before a yes. */
  readonly present: (plan: Plan, services: Services) => Promise<string>;
  readonly run: (input: Input, call: WriteCall<Plan>) => Promise<Answer>;
  /** What `run` would answer if the call has happened already; null if it has not. */
  readonly find: (input: Input, call: Omit<WriteCall<Plan>, "plan">) => Promise<Answer | null>;
};

/** How long finding out whom a call reaches may take. */
const PLAN_MS = 120_000;

/** Defines a tool that only reads. */
export function readTool<Input extends object>(desk: Desk, definition: ReadDefinition<Input>): Tool<Input> {
  const { name, run, untrusted = false } = definition;
  return defineTool<Input>({
    ...described(definition),
    risk: "low",
    replay: "safe",
    untrusted,
    execute: (input, context) =>
      answered(name, context.signal, () => run(input, servicesFor(desk, name, context.signal), context)),
  });
}

/** Defines a tool that changes something, with a person's view of it. */
export function writeTool<Input extends object, Plan>(
  desk: Desk,
  definition: WriteDefinition<Input, Plan>,
): Tool<Input> {
  const { name, outbound, reaches, risk, confirm, present, run, find } = definition;
  const planOf = planner(desk, definition);
  return defineTool<Input>({
    ...described(definition),
    replay: "lookup",
    outbound,
    access: async (input) => reaches(await planOf(input)).map(toTarget),
    risk: async (input) => risk(await planOf(input)),
    ...(confirm && { confirm: async (input) => confirm(await planOf(input)) }),
    present: async (input) => {
      const plan = await planOf(input);
      return inTime((services) => present(plan, services), desk, name);
    },
    lookup: async (input, { signal, ...call }) => {
      const found = await find(input, { services: servicesFor(desk, name, signal), key: callKey(call) });
      return found?.tainted ? jsonOutput(found) : found && jsonText(found.data);
    },
    execute: (input, context) =>
      answered(name, context.signal, async () => {
        const plan = await planOf(input);
        refuseOthers(reaches(plan), context.targets);
        const services = servicesFor(desk, name, context.signal);
        return run(input, { plan, services, key: callKey(context) });
      }),
  });
}

function described<Input>({ name, description, group, properties, required = [], check }: Described<Input>) {
  return {
    name,
    description,
    groups: [group],
    input: { type: "object", properties, required, additionalProperties: false },
    ...(check && {
      check: (input: Input) => {
        const wrong = check(input);
        return wrong === null ? null : faultOutput(new ToolFault("params", wrong), name).text;
      },
    }),
  };
}

/** One plan for each call, so that what is judged and shown is what is done. */
function planner<Input extends object, Plan>(
  desk: Desk,
  { name, plan }: Pick<WriteDefinition<Input, Plan>, "name" | "plan">,
): (input: Input) => Promise<Plan> {
  const plans = new WeakMap<Input, Promise<Plan>>();
  return (input) => {
    let planned = plans.get(input);
    if (!planned) {
      planned = inTime((services) => plan(input, services), desk, name).catch((thrown: unknown) => {
        throw new PlanError(thrown, name);
      });
      plans.set(input, planned);
    }
    return planned;
  };
}

/** Looks something up before a call may act; no run's stop reaches there, so that time must end it, whatever hangs. */
async function inTime<Value>(
  work: (services: Services) => Promise<Value>,
  desk: Desk,
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
    return await Promise.race([work(servicesFor(desk, tool, stop.signal)), late]);
  } finally {
    clearTimeout(timer);
  }
}

function toTarget(address: string): Target {
  return { kind: "recipient", address };
}

/** Nobody is reached whom the check of rights has not seen. */
function refuseOthers(reached: readonly string[], targets: readonly Target[]): void {
  const allowed = new Set(targets.flatMap((target) => (target.kind === "recipient" ? [target.address] : [])));
  const other = reached.find((address) => !allowed.has(address));
  if (other !== undefined || allowed.size !== new Set(reached).size)
    throw new ToolFault("params", "whom this call reaches has changed since it was allowed; make it again");
}

async function answered(tool: string, signal: AbortSignal, work: () => Promise<Answer>) {
  try {
    return jsonOutput(await work());
  } catch (thrown) {
    signal.throwIfAborted();
    return faultOutput(thrown instanceof PlanError ? thrown.cause : thrown, tool);
  }
}

/** A plan that failed before its tool ran: whoever asked for it has only the message to show. */
class PlanError extends Error {
  constructor(cause: unknown, tool: string) {
    super(faultOutput(cause, tool).text, { cause });
    this.name = "PlanError";
  }
}
