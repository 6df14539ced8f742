import type { TryResult } from "@retinue/core/schema/api/agent";
import { expect, test } from "vitest";
import { openAgentSite } from "./agent-site.ts";

test("a call is tried with the verdict, the risk, what it touches and every layer's voice", async () => {
  await using site = await openAgentSite();
  site.write("src/a.ts", "x");
  site.agent(
    "lead",
    'description: L.\ntools: [read, write, shell]\nsubagents: [mine]\ngrants: [read, "write(src/**)", shell]',
  );
  const text = site.agent(
    "mine",
    'description: M.\ntools: [read, write, shell]\naskTools: ["shell(git push *)"]',
  );
  const attempt = (tool: string, input: unknown, more = {}) =>
    site.send<TryResult>("POST", "/api/agents/try", {
      name: "mine",
      parents: ["lead"],
      tool,
      input,
      ...more,
    });
  const write = await attempt("write", { path: "src/a.ts", content: "y" });
  expect(write).toMatchObject({
    decision: { verdict: "allow" },
    risk: "medium",
    targets: ["write project:src/a.ts"],
    fault: null,
  });
  expect(write.layers.map(({ layer, verdict }) => `${layer}: ${verdict}`)).toEqual([
    "protected files: allow",
    "settings: allow",
    "session: allow",
    "grants of lead: allow",
    "tools of mine: allow",
  ]);
  const outside = await attempt("write", { path: "docs/a.md", content: "y" });
  expect(outside.decision).toMatchObject({ verdict: "deny", layer: "grants of lead" });
  expect(outside.layers.find(({ layer }) => layer === "tools of mine")?.verdict).toBe("allow");
  const guarded = await attempt("write", { path: ".retinue/agents/mine.md", content: "y" });
  expect(guarded.decision).toMatchObject({ verdict: "deny", layer: "protected files" });
  expect((await attempt("shell", { command: "git push origin" })).decision).toMatchObject({
    verdict: "ask",
    rule: "shell(git push *)",
  });
  expect((await attempt("shell", { command: "ls" })).decision.verdict).toBe("allow");
  const denied = { text: text.replace("askTools", "disallowedTools: [write]\naskTools") };
  expect((await attempt("write", { path: "src/a.ts", content: "y" }, denied)).decision).toMatchObject({
    verdict: "deny",
    rule: "write",
  });
  expect(site.read("src/a.ts")).toBe("x");
  expect(site.read(".retinue/agents/mine.md")).toBe(text);
});

test("a trial says what is wrong with an input, and judges mail by its addresses without opening an account", async () => {
  await using site = await openAgentSite();
  site.agent("mine", "description: M.\ntools: [read, gmail_send_email]\nsubagents: [coder]");
  const attempt = (tool: string, input: unknown) =>
    site.send<TryResult>("POST", "/api/agents/try", { name: "mine", tool, input });
  expect((await attempt("read", { file: "a" })).fault).toContain("path");
  const mail = await attempt("gmail_send_email", {
    recipients: ["Eve@Example.org"],
    subject: "Hi",
    body: "Text",
  });
  expect(mail).toMatchObject({ decision: { verdict: "ask" }, risk: "high", targets: ["eve@example.org"] });
  expect((await attempt("delegate", { agent: "executor", task: "Do." })).decision.verdict).toBe("allow");
  expect((await attempt("delegate", { agent: "tester", task: "Do." })).decision.verdict).toBe("deny");
  expect(
    (await site.refused("POST", "/api/agents/try", { name: "mine", tool: "nope", input: {} })).status,
  ).toBe(404);
});

test("in plan mode a trial denies what changes anything", async () => {
  await using site = await openAgentSite("plan");
  site.agent("mine", "description: M.\ntools: [read, write]");
  const attempt = (tool: string, input: unknown) =>
    site.send<TryResult>("POST", "/api/agents/try", { name: "mine", tool, input });
  expect((await attempt("write", { path: "a", content: "b" })).decision).toMatchObject({
    verdict: "deny",
    layer: "session",
  });
  expect((await attempt("read", { path: "a" })).decision.verdict).toBe("allow");
});
