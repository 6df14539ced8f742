import { afterEach, expect, test } from "vitest";
import { defineAgent } from "../agents/define-agent.ts";
import type { CallableModel } from "../run/model/callable-model.ts";
import { DEFAULT_SETTINGS } from "../settings/default-settings.ts";
import { scriptedModel } from "../testing/index.ts";
import {
  createModelResolver,
  explainModel,
  type ModelOptions,
  type ModelResolver,
} from "./resolve-models.ts";

const agent = defineAgent({ name: "lead", description: "d", prompt: "p" });
const KEY = { OPENAI_API_KEY: "sk-x", RETINUE_DISCOVER: "0" };
const NO_KEY = { RETINUE_DISCOVER: "0" };

let open: ModelResolver[] = [];
afterEach(() => {
  for (const resolver of open) resolver.close();
  open = [];
});

function createResolver(options: Partial<ModelOptions>): ModelResolver {
  const resolver = createModelResolver({ settings: DEFAULT_SETTINGS, env: NO_KEY, ...options });
  open.push(resolver);
  return resolver;
}
const asCallable = (id: string): CallableModel => ({
  id,
  provider: "scripted",
  model: scriptedModel(id, []),
  price: null,
});
/** A model of its own for each agent where nothing else is there. */
const offline = { names: ["offline"], notice: "no model is set up", create: () => asCallable("offline") };

test("a model given in code wins over one of that name that is configured, and is one object", async () => {
  const own = scriptedModel("own", []);
  const { resolve } = createResolver({ env: KEY, models: { "openai/gpt-5": own } });
  const found = await resolve("openai/gpt-5", null, agent);
  expect([found.id, found.model]).toEqual(["scripted/own", own]);
  expect(await resolve("openai/gpt-5", null, agent)).toBe(found);
});

test("to inherit means the parent's model, or what that passes on in its place", async () => {
  const { resolve } = createResolver({ env: KEY });
  const parent = asCallable("the parent's");
  expect(await resolve("inherit", parent, agent)).toBe(parent);
  const led = { ...asCallable("rules"), passedOn: parent };
  expect(await resolve("inherit", led, agent)).toBe(parent);
  expect((await resolve("inherit", null, agent)).id).toBe("openai/gpt-5");
});

test("the default given in code is what agents without a parent inherit, as an object or by name", async () => {
  const object = scriptedModel("given", []);
  expect((await createResolver({ model: object }).resolve("inherit", null, agent)).model).toBe(object);
  expect(
    (await createResolver({ env: KEY, model: "openai/gpt-5-mini" }).resolve("inherit", null, agent)).id,
  ).toBe("openai/gpt-5-mini");
});

test("with no default each agent has a model of its own, which is told once", async () => {
  const notices: string[] = [];
  const { resolve } = createResolver({
    agentModels: offline,
    onNotice: ({ message }) => notices.push(message),
  });
  for (let times = 0; times < 3; times++) expect((await resolve("inherit", null, agent)).id).toBe("offline");
  expect(notices).toEqual(["no model is set up"]);
});

test("without any model an agent can be made and says when it is called what to set", async () => {
  const { model } = await createResolver({}).resolve("inherit", null, agent);
  await expect(model.doStream({ prompt: [] })).rejects.toThrow(
    /no model is configured \(set ANTHROPIC_API_KEY/,
  );
});

test("a provider takes as many calls at once as its settings say, 32 if they do not, and a given object any number", async () => {
  const settings = {
    ...DEFAULT_SETTINGS,
    providers: {
      mine: { kind: "openai-compatible" as const, baseUrl: "http://127.0.0.1:1", maxConcurrent: 3 },
    },
  };
  const { resolve, maxConcurrent } = createResolver({ settings, env: KEY });
  await resolve("mine/some-model", null, agent);
  await resolve("openai/gpt-5", null, agent);
  expect(["mine", "openai", "scripted"].map(maxConcurrent)).toEqual([3, 32, Number.POSITIVE_INFINITY]);
});

test("why a name cannot be called is explained, and null means that it can", () => {
  const sources = { settings: DEFAULT_SETTINGS, env: KEY };
  expect(explainModel("openai/gpt-5", sources)).toBeNull();
  expect(explainModel("anthropic/claude-opus-4-6", sources)?.message).toContain(
    "ANTHROPIC_API_KEY is not set",
  );
  expect(explainModel("offline", { ...sources, agentModels: offline })).toBeNull();
  expect(explainModel("offline", { ...sources, env: NO_KEY })).not.toBeNull();
});

test("a name that the settings give to an agent's own model means that model", async () => {
  const settings = { ...DEFAULT_SETTINGS, aliases: { mine: "offline" } };
  const { resolve } = createResolver({ settings, env: KEY, agentModels: offline });
  expect((await resolve("mine", null, agent)).id).toBe("offline");
  expect(explainModel("mine", { settings, env: NO_KEY, agentModels: offline })).toBeNull();
  expect(explainModel("mine", { settings, env: NO_KEY })).not.toBeNull();
});

test("a model whose resolver was closed opens no connection any more", async () => {
  const settings = {
    ...DEFAULT_SETTINGS,
    providers: { mine: { kind: "openai-compatible" as const, baseUrl: "http://127.0.0.1:1" } },
  };
  const resolver = createResolver({ settings });
  const { model } = await resolver.resolve("mine/some-model", null, agent);
  resolver.close();
  await expect(model.doStream({ prompt: [] })).rejects.toThrow("the transport is closed");
});
