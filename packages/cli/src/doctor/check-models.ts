import { probeProvider } from "@retinue/core/models/lazy-model";
import { findOllama } from "@retinue/core/models/ollama/find-ollama";
import { findProviders, type Provider } from "@retinue/core/models/providers";
import { createModels } from "@retinue/core/models/resolve-model";
import type { ModelList } from "@retinue/core/models/wire/list-models";
import { RetinueError } from "@retinue/core/schema/error";
import { findOwn } from "@retinue/core/schema/find-own";
import type { Settings } from "@retinue/core/schema/settings";
import { type Transport, TransportError } from "@retinue/core/schema/transport";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import { type Finding, ok, problem, skipped, warning } from "./run-checks.ts";

/** What is known about models before anybody is asked. */
type ModelWorld = {
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  transport: Transport;
  offline: boolean;
};

const ADD_KEY = "export ANTHROPIC_API_KEY=…   # or OPENAI_API_KEY, GEMINI_API_KEY, or run Ollama";
const PROBE_MS = 3_000;
const OFFLINE = "offline";

/** Which keys there are, by the names of their variables only. */
export function checkKeys({ settings, env }: ModelWorld): Finding {
  const providers = [...findProviders(settings, env).values()];
  const withKey = providers.filter(({ apiKey }) => apiKey !== undefined);
  const names = withKey.map(({ name, apiKeyEnv }) => {
    const isOwn = findOwn(settings.providers, name)?.apiKey !== undefined;
    return isOwn ? `${name} (in your settings)` : (apiKeyEnv ?? name);
  });
  const facts = { keys: names };
  if (names.length > 0) return ok(`keys: ${names.join(", ")}`, facts);
  return skipped("keys: no provider's is in the environment or the settings", facts);
}

/** Whether each provider that is set up can be reached and takes its key. */
export async function checkProviders(world: ModelWorld, signal: AbortSignal): Promise<Finding[]> {
  const providers = listConfigured(world);
  if (providers.length === 0) return [skipped("providers: none is set up")];
  if (world.offline)
    return [skipped(`providers: not asked (${providers.map(({ name }) => name).join(", ")})`)];
  const chosen = defaultProvider(world);
  return Promise.all(
    providers.map((provider) => checkProvider(provider, provider.name === chosen, world, signal)),
  );
}

async function checkProvider(
  provider: Provider,
  isChosen: boolean,
  { transport }: ModelWorld,
  signal: AbortSignal,
): Promise<Finding> {
  const { name } = provider;
  const host = URL.parse(provider.baseUrl)?.host ?? "an address that cannot be read";
  const facts = { provider: name, host };
  const bad = isChosen ? problem : warning;
  try {
    const started = performance.now();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]);
    const probe = await probeProvider(provider, transport, limit);
    return judge(provider, probe, { isChosen, host, ms: Math.round(performance.now() - started) });
  } catch (thrown) {
    const why = thrown instanceof TransportError ? explainFailure(thrown) : "the request failed";
    const remedy =
      host.startsWith("127.") || host.startsWith("localhost") ? "start that server" : "check your network";
    return bad(
      `${name} at ${host} cannot be reached: ${why}`,
      `${remedy}, or: retinue config get providers.${name}`,
      facts,
    );
  }
}

function judge(
  { name, apiKeyEnv }: Provider,
  { status, models }: ModelList,
  { isChosen, host, ms }: { isChosen: boolean; host: string; ms: number },
): Finding {
  const facts = { provider: name, host, status, models: models.length, ms };
  if (status === 401 || status === 403) {
    const remedy = apiKeyEnv
      ? `export ${apiKeyEnv}=…`
      : `retinue config set providers.${name}.apiKeyEnv NAME`;
    return problem(`${name} at ${host} refuses the key (HTTP ${status})`, remedy, facts);
  }
  if (status >= 500 || status === 429) {
    const bad = isChosen ? problem : warning;
    return bad(`${name} at ${host} answers with HTTP ${status}`, "try again later", facts);
  }
  const has = models.length > 0 ? showCount(models.length, "model") : `HTTP ${status}, no list of models`;
  return ok(`${name} answers at ${host} (${has}, ${ms} ms)`, facts);
}

const LARGER_LIMITS =
  "if it is strong and has a large window, give agents more room: retinue config set limits.scale 3 (or --limits roomy)";

/** Which model a task would get now. */
export async function checkDefaultModel(world: ModelWorld): Promise<Finding> {
  const { settings, env, transport } = world;
  const models = createModels({ settings, env, transport });
  const name = models.defaultName;
  const isOffline = (each: string) => (findOwn(settings.aliases, each) ?? each).split("/")[0] === OFFLINE;
  if (name !== undefined && isOffline(name))
    return ok("tasks go to the offline model, as you chose", { model: OFFLINE });
  if (name !== undefined) {
    try {
      const { id, price } = models.resolve(name);
      const cost = price ? "" : "; its price is not known, so a limit on cost refuses it";
      const { scale = 1 } = settings.limits;
      const details = scale === 1 ? [LARGER_LIMITS] : [];
      const facts = { model: id, priced: price !== null, limitsScale: scale };
      return ok(`tasks go to ${cutToLine(id, 120)}${cost}`, facts, details);
    } catch (thrown) {
      if (!(thrown instanceof RetinueError)) throw thrown;
      return problem(
        `the default model cannot be used: ${thrown.message}`,
        thrown.hint ?? "retinue config get model",
      );
    }
  }
  const ollama = world.offline ? undefined : await findOllama(world);
  if (ollama) return ok(`tasks go to ${cutToLine(ollama, 120)}, found on this machine`, { model: ollama });
  return warning(
    "tasks go to the offline model: it searches, reads, tests and reviews by rules, and writes nothing",
    ADD_KEY,
    { model: OFFLINE },
  );
}

/** Whether Ollama runs here. */
export async function checkOllama(world: ModelWorld, signal: AbortSignal): Promise<Finding> {
  if (world.offline) return skipped("Ollama: not asked");
  if (world.env.RETINUE_DISCOVER === "0") return skipped("Ollama: not looked for (RETINUE_DISCOVER=0)");
  const provider = findProviders(world.settings, world.env).get("ollama");
  if (!provider) return skipped("Ollama: not set up");
  const host = URL.parse(provider.baseUrl)?.host ?? "?";
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]);
    const { models } = await probeProvider(provider, world.transport, limit);
    const facts = { host, models: models.length };
    if (models.length > 0)
      return ok(`Ollama runs at ${host} with ${showCount(models.length, "model")}`, facts);
    return warning(`Ollama runs at ${host}, but has no models`, "ollama pull qwen3", facts);
  } catch {
    return skipped(`Ollama does not run at ${host}, which is fine`);
  }
}

/** Providers that somebody set up: by a key, an address or the settings. */
function listConfigured({ settings, env }: Pick<ModelWorld, "settings" | "env">): Provider[] {
  return [...findProviders(settings, env).values()].filter(({ usable, onlyByName }) => usable && !onlyByName);
}

function defaultProvider({ settings, env, transport }: ModelWorld): string | undefined {
  try {
    const models = createModels({ settings, env, transport });
    return models.defaultName === undefined ? undefined : models.resolve(models.defaultName).provider;
  } catch {
    return undefined;
  }
}

const REASONS: Partial<Record<TransportError["failure"], string>> = {
  refused: "nothing listens there",
  dns: "the name is not known",
  tls: "its certificate is not accepted",
  connect_timeout: "no connection in time",
  aborted: `no answer within ${PROBE_MS / 1_000} s`,
  redirect: "it sends requests elsewhere",
};

function explainFailure({ failure }: TransportError): string {
  return REASONS[failure] ?? `the connection failed (${failure})`;
}
