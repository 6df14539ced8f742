import type {
  AgentDetail,
  AgentList,
  AgentReview,
  DelegationGraph,
  EditResult,
  ToolList,
} from "@retinue/core/schema/api/agent";
import { expect, test } from "vitest";
import { HOSTILE_NAMES, HOSTILE_VALUES } from "../fixtures/hostile-agents.ts";
import { openAgentSite } from "./agent-site.ts";

const REVIEWER = "description: Reviews a change.\ntools: [read, grep]\nlimits: { turns: 5 }";

test("the list holds agents in use, disabled, shadowed and broken ones, and where new ones go", async () => {
  await using site = await openAgentSite();
  site.agent("mine", REVIEWER);
  site.agent("off", "description: Off.\nenabled: false");
  site.write(".claude/agents/mine.md", "---\nname: mine\ndescription: Shadowed.\n---\nNo.\n");
  site.write(
    ".claude/agents/bad.md",
    "---\nname: bad\ndescription: Bad.\ndisallowedTools: [shel]\n---\nNo.\n",
  );
  const { agents, folders } = await site.get<AgentList>("/api/agents");
  const states = agents
    .filter(({ scope }) => scope === "project")
    .map((each) => [each.name, each.state, each.file]);
  expect(states).toEqual([
    ["mine", "enabled", ".retinue/agents/mine.md"],
    ["off", "disabled", ".retinue/agents/off.md"],
    ["mine", "shadowed", ".claude/agents/mine.md"],
    ["bad", "broken", ".claude/agents/bad.md"],
  ]);
  expect(agents.find((each) => each.name === "bad")?.health.errors).toBe(1);
  expect(agents.find((each) => each.state === "shadowed")?.shadowedBy).toBe(".retinue/agents/mine.md");
  expect(agents.find((each) => each.name === "main")).toMatchObject({ scope: "builtin", isEditable: false });
  expect(folders[0]).toEqual({ scope: "project", path: ".retinue/agents" });
});

test("a shadowed and a broken file are read by naming them", async () => {
  await using site = await openAgentSite();
  site.agent("mine", REVIEWER);
  site.write(".claude/agents/mine.md", "---\nname: mine\ndescription: Shadowed.\n---\nNo.\n");
  const bad = site.write(
    ".claude/agents/bad.md",
    "---\nname: bad\ndescription: Bad.\ndisallowedTools: [shel]\n---\nNo.\n",
  );
  const shadowed = await site.get<AgentDetail>(
    `/api/agents/mine?file=${encodeURIComponent(".claude/agents/mine.md")}`,
  );
  expect(shadowed.review.form?.description).toBe("Shadowed.");
  expect(shadowed.review.format).toBe("claude");
  const broken = await site.get<AgentDetail>("/api/agents/bad");
  expect(broken.text).toBe(bad);
  expect(broken.review.form).toBeNull();
  expect(broken.review.refusals.join()).toContain("shel");
});

test("an agent is shown with its text, form, kept keys, rights and whom it reaches", async () => {
  await using site = await openAgentSite();
  const text = site.agent("lead", "description: Leads.\ntools: [read]\nsubagents: [helper]\nx-team: core");
  site.agent("helper", "description: Helps.\ntools: [read, grep]");
  const { card, text: shown, hash, review } = await site.get<AgentDetail>("/api/agents/lead");
  expect(card.isEditable).toBe(true);
  expect(shown).toBe(text);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(review.form?.tools).toEqual(["read"]);
  expect(review.kept).toEqual(["x-team"]);
  expect(review.refusals).toEqual([]);
  expect(review.diff).toBe("");
  expect(review.delegatesTo).toEqual(["helper"]);
  expect(review.rights.find((row) => row.tool === "write")).toMatchObject({
    verdict: "deny",
    layer: "tools of lead",
  });
  expect(review.graph.edges).toContainEqual({ from: "lead", to: "helper", isInCycle: false });
});

test("effective rights follow the parents and change when a tool is denied", async () => {
  await using site = await openAgentSite();
  site.agent("lead", "description: Leads.\ntools: [read, grep]\nsubagents: [helper]");
  const text = site.agent("helper", "description: Helps.\ntools: [read, grep, shell]");
  const verdicts = async (asked: string) => {
    const review = await site.send<AgentReview>("POST", "/api/agents/review", {
      text: asked,
      name: "helper",
      parents: ["lead"],
    });
    return { chain: review.chain, of: (tool: string) => review.rights.find((row) => row.tool === tool) };
  };
  const before = await verdicts(text);
  expect(before.chain).toEqual(["lead", "helper"]);
  expect(before.of("grep")?.verdict).toBe("allow");
  expect(before.of("shell")).toMatchObject({ verdict: "deny", layer: "grants of lead" });
  const after = await verdicts(text.replace("shell]", "shell]\ndisallowedTools: [grep]"));
  expect(after.of("grep")).toMatchObject({ verdict: "deny", layer: "tools of helper", rule: "grep" });
  expect(after.of("read")?.verdict).toBe("allow");
});

test("a circle that a text closes is refused by its path, and allowed by recursive", async () => {
  await using site = await openAgentSite();
  site.agent("a", "description: A.\nsubagents: [b]");
  const text = site.agent("b", "description: B.");
  const closing = text.replace("description: B.", "description: B.\nsubagents: [a]");
  const review = await site.send<AgentReview>("POST", "/api/agents/review", { text: closing, name: "b" });
  expect(review.refusals).toEqual([expect.stringContaining("a → b → a")]);
  expect(review.graph.cycles).toEqual([["a", "b"]]);
  expect(review.graph.edges.filter((edge) => edge.isInCycle)).toHaveLength(2);
  const { hash } = await site.get<AgentDetail>("/api/agents/b");
  expect(await site.refused("PUT", "/api/agents/b", { text: closing, hash })).toMatchObject({
    status: 422,
    message: expect.stringContaining("a → b → a"),
  });
  expect(site.read(".retinue/agents/b.md")).toBe(text);
  const allowed = closing.replace("subagents: [a]", "subagents: { allow: [a], recursive: true }");
  expect(
    (await site.send<AgentReview>("POST", "/api/agents/review", { text: allowed, name: "b" })).refusals,
  ).toEqual([]);
  const self = text.replace("description: B.", "description: B.\nsubagents: [b]");
  const own = await site.send<AgentReview>("POST", "/api/agents/review", { text: self, name: "b" });
  expect(own.refusals).toEqual([expect.stringContaining("b → b")]);
});

test("a circle that was there before does not keep other changes from being saved", async () => {
  await using site = await openAgentSite();
  site.agent("a", "description: A.\nsubagents: [b]");
  const text = site.agent("b", "description: B.\nsubagents: [a]");
  const review = await site.send<AgentReview>("POST", "/api/agents/review", {
    text: text.replace("B.", "Better."),
    name: "b",
  });
  expect(review.refusals).toEqual([]);
  expect(review.problems.map(({ code }) => code)).toContain("delegation-cycle");
});

test("references to nobody, a renamed agent and a name that is taken are told", async () => {
  await using site = await openAgentSite();
  site.agent("lead", "description: Leads.\nsubagents: [helper]");
  const text = site.agent("helper", "description: Helps.\nsubagents: [nobody-there]");
  const codes = async (asked: string) => {
    const review = await site.send<AgentReview>("POST", "/api/agents/review", {
      text: asked,
      name: "helper",
    });
    return review.problems.map(({ code, message }) => `${code} ${message}`).join("\n");
  };
  expect(await codes(text)).toContain("unknown-subagent 'helper' may delegate to 'nobody-there'");
  expect(await codes(text.replace("name: helper", "name: aide"))).toMatch(
    /renamed-agent .*'helper' is now 'aide'.*: lead/,
  );
  expect(await codes(text.replace("name: helper", "name: lead"))).toContain(
    "name-taken 'lead' is also defined",
  );
});

test("what catches the eye about rights is said in a sentence each", async () => {
  await using site = await openAgentSite();
  const concerns = async (frontmatter: string) => {
    const text = `---\n${frontmatter}\n---\nDo it.\n`;
    return (await site.send<AgentReview>("POST", "/api/agents/review", { text, name: null })).concerns;
  };
  const sound = "limits: { turns: 5 }";
  expect(
    await concerns(`name: code-reviewer\ndescription: Reviews.\ntools: [read, shell]\n${sound}`),
  ).toEqual(["It looks read-only by its name, but holds shell."]);
  expect(await concerns(`name: code-reviewer\ndescription: Reviews.\ntools: [read]\n${sound}`)).toEqual([]);
  expect(
    (
      await concerns(`name: a\ndescription: Mails.\ntools: [gmail_get_message, gmail_send_email]\n${sound}`)
    ).join(),
  ).toContain("reads text from outside (gmail_get_message) and can act outside (gmail_send_email)");
  expect((await concerns(`name: a\ndescription: Writes tests.\ntools: [write]\n${sound}`)).join()).toContain(
    "may write everywhere",
  );
  expect(await concerns(`name: a\ndescription: Writes tests.\ntools: ["write(test/**)"]\n${sound}`)).toEqual(
    [],
  );
  const open = (await concerns("name: a\ndescription: Does.")).join();
  expect(open).toContain("everything that its parent grants");
  expect(
    (
      await concerns(
        `name: a\ndescription: Leads.\ntools: [read]\ngrants: [read, shell]\nsubagents: [x]\n${sound}`,
      )
    ).join(),
  ).toContain("pass on what it does not use itself: shell");
});

test("fields are edited into a text, and the review of it shows the difference to the file", async () => {
  await using site = await openAgentSite();
  const text = site.write(
    ".claude/agents/c.md",
    "---\nname: c\n# keep\ndescription: C.\ntools: Read, Grep\n---\nDo it.\n",
  );
  const edited = await site.send<EditResult>("POST", "/api/agents/edit", {
    text,
    format: "claude",
    change: { tools: ["read", "shell"] },
  });
  expect(edited.text).toBe(text.replace("Read, Grep", "Read, Bash"));
  const review = await site.send<AgentReview>("POST", "/api/agents/review", { text: edited.text, name: "c" });
  expect(review.diff).toContain("-tools: Read, Grep\n+tools: Read, Bash\n");
  expect(
    await site.refused("POST", "/api/agents/edit", { text, format: "claude", change: { tools: ["shel"] } }),
  ).toMatchObject({
    status: 422,
    message: expect.stringContaining("shel"),
  });
});

test("tools are listed with their groups, risk and input, and the graph resolves globs", async () => {
  await using site = await openAgentSite();
  const { tools, groups } = await site.get<ToolList>("/api/tools");
  expect(tools.find(({ name }) => name === "write")).toMatchObject({
    groups: ["filesystem"],
    risk: "medium",
  });
  expect(tools.map(({ name }) => name)).toContain("delegate");
  expect(groups).toContain("web");
  const { nodes, edges } = await site.get<DelegationGraph>("/api/agents-graph");
  expect(nodes.map(({ name }) => name)).toContain("main");
  expect(edges).toContainEqual({ from: "main", to: "coder", isInCycle: false });
  expect(edges.some(({ from, to }) => from === to)).toBe(false);
});

test("agent files with hostile names and values break neither the list nor the editor", async () => {
  await using site = await openAgentSite();
  for (const [index, value] of HOSTILE_VALUES.entries())
    site.agent(`value-${index}`, `description: d\nblob: ${value}`);
  for (const name of HOSTILE_NAMES)
    site.write(
      `.retinue/agents/${name.replaceAll("*", "star")}.md`,
      `---\nname: ${name}\ndescription: d\n---\nT\n`,
    );
  const { agents } = await site.get<AgentList>("/api/agents");
  expect(agents.filter(({ scope }) => scope === "project")).toHaveLength(
    HOSTILE_VALUES.length + HOSTILE_NAMES.length,
  );
  for (const { name, state } of agents.filter(({ scope }) => scope === "project").slice(-12)) {
    if (state !== "enabled" || name === "") continue;
    const detail = await site.get<AgentDetail>(`/api/agents/${encodeURIComponent(name)}`);
    expect(detail.review.form?.name).toBe(name);
  }
  expect((await site.get<DelegationGraph>("/api/agents-graph")).nodes.length).toBeGreaterThan(0);
});
