import { join } from "node:path";
import type { ApprovalRequest } from "@retinue/builtin";
import { callDelegate, callTool, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

function counted(name: string, more: Partial<Parameters<typeof defineTool<{ to?: string }>>[0]> = {}) {
  const calls: unknown[] = [];
  const tool = defineTool<{ to?: string }>({
    name,
    description: "x",
    input: { type: "object", properties: { to: { type: "string" } } },
    execute: async (input) => {
      calls.push(input);
      return `${name} done`;
    },
    ...more,
  });
  return { tool, calls };
}

test("a child is offered and may call only what its parent grants, and a refused call says who decided", async () => {
  const [reads, writes] = [counted("look"), counted("change")];
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x"), say("ok")],
      worker: [callTool("change", {}), callTool("look", {}), say("ok")],
    },
    {
      tools: [reads.tool, writes.tool],
      agents: { lead: { tools: ["look"] }, worker: { tools: ["look", "change"] } },
    },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.models.worker?.requests[0]?.tools?.map((tool) => tool.name)).toEqual(["look"]);
  expect([reads.calls.length, writes.calls.length]).toEqual([1, 0]);
});

test("a coordinator that may only read can still grant more, if its grants say so", async () => {
  const [look, shell] = [counted("look"), counted("shell")];
  await using t = testRuntime(
    {
      lead: [callTool("shell", {}), callDelegate("tester", "x"), say("ok")],
      tester: [callTool("shell", {}), say("ok")],
    },
    {
      tools: [look.tool, shell.tool],
      agents: { lead: { tools: ["look"], grants: ["look", "shell"] }, tester: { tools: ["shell"] } },
    },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(shell.calls).toHaveLength(1);
});

test("an ask goes to a person with the whole chain, and without one it is a denial", async () => {
  const { tool, calls } = counted("deploy");
  const asked: ApprovalRequest[] = [];
  const scripts = () => ({
    lead: [callDelegate("worker", "x"), say("ok")],
    worker: [callTool("deploy", { to: "prod" }), say("ok")],
  });
  const agents = { worker: { askTools: ["deploy"] } };
  await using yes = testRuntime(scripts(), {
    tools: [tool],
    agents,
    approve: async (request) => {
      asked.push(request);
      return { allowed: true, by: "Ada" };
    },
  });
  await yes.runtime.run({ agent: "lead", task: "go" });
  expect(calls).toHaveLength(1);
  expect(asked[0]).toMatchObject({ tool: "deploy", chain: ["lead", "worker"], input: { to: "prod" } });
  await using nobody = testRuntime(scripts(), { tools: [tool], agents });
  await nobody.runtime.run({ agent: "lead", task: "go" });
  expect(calls).toHaveLength(1);
  expect(JSON.stringify(nobody.models.worker?.requests[1]?.prompt)).toContain("needs approval");
});

test("flags answer asks but lift no deny", async () => {
  const [deploy, erase] = [counted("deploy"), counted("erase")];
  await using t = testRuntime(
    { solo: [callTool("deploy", {}), callTool("erase", {}), say("ok")] },
    {
      tools: [deploy.tool, erase.tool],
      allowedTools: ["deploy", "erase"],
      permissionMode: "bypassPermissions",
      settings: { permissions: { ask: ["deploy"], deny: ["erase"] } },
    },
  );
  await t.runtime.run({ agent: "solo", task: "go" });
  expect([deploy.calls.length, erase.calls.length]).toEqual([1, 0]);
});

test("once untrusted text entered a child, the parent's outbound calls need a person, unless a rule names the recipient", async () => {
  const page = counted("fetch_page", { untrusted: true, replay: "safe" });
  const mail = counted("send_mail", {
    outbound: true,
    access: ({ to = "" }) => [{ kind: "recipient", address: to }],
  });
  const scripts = () => ({
    lead: [
      callDelegate("reader", "x"),
      callTool("send_mail", { to: "eve@evil.test" }),
      callTool("send_mail", { to: "bob@acme.test" }),
      say("ok"),
    ],
    reader: [callTool("fetch_page", {}), say("read it")],
  });
  await using t = testRuntime(scripts(), {
    tools: [page.tool, mail.tool],
    permissionMode: "bypassPermissions",
    settings: {
      permissions: {
        allow: ["send_mail(*@acme.test)", "fetch_page", "delegate", "send_mail"],
        ask: [],
        deny: [],
      },
    },
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(mail.calls).toEqual([{ to: "bob@acme.test" }]);
  expect(result.tainted).toBe(true);
});

test("a disabled agent is never reachable", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), (request) => say(request.last)], worker: [] },
    { settings: { disabledAgents: ["worker"] }, more: [{ name: "spare", description: "x", prompt: "x" }] },
  );
  expect((await t.runtime.run({ agent: "lead", task: "go" })).details).toContain('"type":"disabled"');
  await expect(t.runtime.run({ agent: "worker", task: "go" })).rejects.toThrow(/disabled/);
});

test("an unknown agent is answered with the nearest name", async () => {
  await using t = testRuntime({
    lead: [callDelegate("workr", "x"), (request) => say(request.last)],
    worker: [],
  });
  const { details } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(details).toContain("unknown_agent");
  expect(details).toContain("did you mean 'worker'?");
});

test("a delegation can narrow its child's tools and limits, but its limits do not widen them", async () => {
  const [look, change] = [counted("look"), counted("change")];
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x", { tools: ["look"], limits: { turns: 50 } }), say("ok")],
      worker: [callTool("look", {}), callTool("change", {}), say("stop"), say("ok")],
    },
    {
      tools: [look.tool, change.tool],
      agents: { worker: { tools: ["look"], limits: { turns: 2 } } },
      lenient: true,
    },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect([look.calls.length, change.calls.length]).toEqual([1, 0]);
  expect(t.events.find((event) => event.type === "run.ended" && event.agent === "worker")).toMatchObject({
    result: { iteration_count: 2, partial: true },
  });
});

test("each delegation to an agent has its own limits, whatever an earlier one was given", async () => {
  const look = counted("look", { replay: "safe" });
  let calls = 0;
  await using t = testRuntime(
    {
      lead: [
        callDelegate("worker", "plain"),
        callDelegate("worker", "short", { limits: { turns: 2 } }),
        callDelegate("worker", "plain again"),
        say("ok"),
      ],
      worker: ({ options }) =>
        options.toolChoice?.type === "none" ? say("enough") : callTool("look", { to: String(calls++) }),
    },
    { tools: [look.tool], agents: { worker: { limits: { turns: 4 } } }, lenient: true },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const turns = t.events.flatMap((event) =>
    event.type === "run.ended" && event.agent === "worker" ? [event.result.iteration_count] : [],
  );
  expect(turns).toEqual([4, 2, 4]);
});

test("a model's delegation has no word on limits by tool", async () => {
  const look = counted("look");
  await using t = testRuntime(
    {
      lead: [
        callTool("delegate", { agent: "worker", task: "x", limits: { perTool: { look: 5 } } }),
        ({ last }) => say(last),
      ],
      worker: [],
    },
    { tools: [look.tool], agents: { worker: { limits: { perTool: { look: 1 } } } } },
  );
  const { details } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(details).toContain("limits.perTool is not known here");
  expect(t.models.worker?.requests).toHaveLength(0);
});

test("a yes holds for one call; for the same call throughout the run only if the person says so", async () => {
  const { tool, calls } = counted("deploy");
  let asked = 0;
  const twice = (scope: "once" | "run") =>
    testRuntime(
      { solo: [callTool("deploy", { to: "prod" }), callTool("deploy", { to: "prod" }), say("ok")] },
      {
        tools: [tool],
        agents: { solo: { askTools: ["deploy"] } },
        approve: async () => ({ allowed: ++asked > 0, by: "Ada", scope }),
      },
    );
  await using once = twice("once");
  await once.runtime.run({ agent: "solo", task: "go" });
  expect([asked, calls.length]).toEqual([2, 2]);
  await using whole = twice("run");
  await whole.runtime.run({ agent: "solo", task: "go" });
  expect([asked, calls.length]).toEqual([3, 4]);
});

test("a yes for the whole run does not hold when the same words reach something else", async () => {
  const calls: string[] = [];
  let current = "staging";
  const tool = defineTool({
    name: "deploy",
    description: "Deploys to where the link leads.",
    input: { type: "object" },
    access: () => [{ kind: "host", host: `${current}.acme.test` }],
    execute: async () => {
      calls.push(current);
      current = "production";
      return "done";
    },
  });
  const asked: unknown[] = [];
  const deploy = callTool("deploy", { to: "current" });
  await using t = testRuntime(
    { solo: [deploy, deploy, say("ok")] },
    {
      tools: [tool],
      agents: { solo: { askTools: ["deploy"] } },
      approve: async ({ targets }) => {
        asked.push(targets);
        return { allowed: asked.length === 1, by: "Ada", scope: "run" };
      },
    },
  );
  await t.runtime.run({ agent: "solo", task: "go" });
  expect(asked).toEqual(
    ["staging", "production"].map((name) => [{ kind: "host", host: `${name}.acme.test` }]),
  );
  expect(calls).toEqual(["staging"]);
});

test("a tool that shows files shows none that a rule on it denies or wants asked about", async () => {
  const seen: Record<string, boolean> = {};
  const tool = defineTool({
    name: "look",
    description: "Tells which files it may show.",
    input: { type: "object" },
    replay: "safe",
    execute: async (_, { maySee, projectDir }) => {
      for (const relative of ["src/a.ts", "keys/a.pem", "drafts/a.md"])
        seen[relative] = maySee({
          ...{ kind: "path", root: "project", mode: "read" },
          ...{ relative, path: join(projectDir, relative) },
        });
      return "looked";
    },
  });
  await using t = testRuntime(
    { solo: [callTool("look", {}), say("ok")] },
    {
      tools: [tool],
      agents: { solo: { askTools: ["look(drafts/**)"], disallowedTools: ["look(keys/**)"] } },
    },
  );
  await t.runtime.run({ agent: "solo", task: "go" });
  expect(seen).toEqual({ "src/a.ts": true, "keys/a.pem": false, "drafts/a.md": false });
});

test("a tool that writes what it likes, such as a shell, may write what `write` may write unasked, and nothing else", async () => {
  const free: Record<string, boolean> = {};
  const tool = defineTool({
    name: "build",
    description: "Tells which files it may write.",
    input: { type: "object" },
    execute: async (_, { mayWrite, projectDir }) => {
      for (const relative of ["src/a.ts", "keys/a.pem", "drafts/a.md", ".git/config"])
        free[relative] = mayWrite({
          ...{ kind: "path", root: "project", mode: "write" },
          ...{ relative, path: join(projectDir, relative) },
        });
      return "built";
    },
  });
  const rights = { askTools: ["write(drafts/**)"], disallowedTools: ["write(keys/**)"] };
  await using t = testRuntime(
    { solo: [callTool("build", {}), say("ok")] },
    { tools: [tool], agents: { solo: rights } },
  );
  await t.runtime.run({ agent: "solo", task: "go" });
  expect(free).toEqual({ "src/a.ts": true, "keys/a.pem": false, "drafts/a.md": false, ".git/config": false });
});
