import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { builtInTools } from "@retinue/builtin/built-in-tools";
import type { AgentDetail, AgentList, AgentReview, SaveResult } from "@retinue/core/schema/api/agent";
import { findEntry, type Roster } from "@retinue/server/roster/agent-roster";
import { saveAgent } from "@retinue/server/roster/save-agent";
import { expect, test } from "vitest";
import { openAgentSite } from "./agent-site.ts";

const REVIEWER = "description: Reviews a change.\ntools: [read, grep]\nlimits: { turns: 5 }";

test("saving writes the file with its mode, tells browsers, and the agent is the new one", async () => {
  await using site = await openAgentSite();
  const text = site.agent("mine", REVIEWER);
  const file = join(site.projectDir, ".retinue/agents/mine.md");
  chmodSync(file, 0o640);
  const { hash } = await site.get<AgentDetail>("/api/agents/mine");
  const saved = await site.send<SaveResult>("PUT", "/api/agents/mine", {
    text: text.replace("Reviews", "Judges"),
    hash,
  });
  expect(saved).toMatchObject({ name: "mine", file: ".retinue/agents/mine.md" });
  expect(saved.diff).toContain("+description: Judges a change.");
  expect(site.read(".retinue/agents/mine.md")).toBe(text.replace("Reviews", "Judges"));
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(site.told).toBe(1);
  expect(readdirSync(join(site.projectDir, ".retinue/agents"))).toEqual(["mine.md"]);
  const now = await site.get<AgentDetail>("/api/agents/mine");
  expect(now.card.description).toBe("Judges a change.");
  expect(now.hash).toBe(saved.hash);
});

test("a file that changed since it was opened is a conflict and stays", async () => {
  await using site = await openAgentSite();
  const text = site.agent("mine", REVIEWER);
  const { hash } = await site.get<AgentDetail>("/api/agents/mine");
  const other = site.agent("mine", "description: Changed meanwhile.");
  expect(await site.refused("PUT", "/api/agents/mine", { text, hash })).toMatchObject({
    status: 409,
    code: "conflict",
  });
  expect(await site.refused("PUT", "/api/agents/mine", { text, hash: null })).toMatchObject({ status: 409 });
  expect(await site.refused("DELETE", `/api/agents/mine?hash=${hash}`)).toMatchObject({ status: 409 });
  expect(site.read(".retinue/agents/mine.md")).toBe(other);
  expect(site.told).toBe(0);
});

test("what an editor saves while a text is still being judged is not overwritten", async () => {
  await using site = await openAgentSite();
  const text = site.agent("mine", REVIEWER);
  const { hash } = await site.get<AgentDetail>("/api/agents/mine");
  const other = text.replace("Reviews", "Changed meanwhile, reviews");
  const tools = new Proxy(builtInTools, {
    get(target, key, receiver) {
      site.write(".retinue/agents/mine.md", other);
      return Reflect.get(target, key, receiver);
    },
  });
  const find = (roster: Roster) => findEntry(roster, "mine");
  const saving = saveAgent({ ...site.desk, tools }, find, { text: text.replace("Reviews", "Judges"), hash });
  await expect(saving).rejects.toThrow("has changed since it was opened");
  expect(site.read(".retinue/agents/mine.md")).toBe(other);
});

test("of two who save the same state one is told of the conflict", async () => {
  await using site = await openAgentSite();
  const text = site.agent("mine", REVIEWER);
  const { hash } = await site.get<AgentDetail>("/api/agents/mine");
  const answers = await Promise.allSettled(
    ["One.", "Two."].map((word) =>
      site.send<SaveResult>("PUT", "/api/agents/mine", {
        text: text.replace("Reviews a change.", word),
        hash,
      }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a text with errors is not saved", async () => {
  await using site = await openAgentSite();
  const text = site.agent("mine", REVIEWER);
  const { hash } = await site.get<AgentDetail>("/api/agents/mine");
  const bad = text.replace("tools: [read, grep]", "tools: [read]\ndisallowedTools: [shel]");
  expect(await site.refused("PUT", "/api/agents/mine", { text: bad, hash })).toMatchObject({
    status: 422,
    message: expect.stringContaining("shel"),
  });
  expect(site.read(".retinue/agents/mine.md")).toBe(text);
});

test("a built-in agent is not written, and a copy in the project takes its place", async () => {
  await using site = await openAgentSite();
  const { text, hash, card } = await site.get<AgentDetail>("/api/agents/coder");
  expect(card.isEditable).toBe(false);
  expect(await site.refused("PUT", "/api/agents/coder", { text, hash })).toMatchObject({
    status: 422,
    message: expect.stringContaining("built in"),
  });
  const copy = (text ?? "").replace("limits:", "temperature: 0.1\nlimits:");
  const review = await site.send<AgentReview>("POST", "/api/agents/review", {
    text: copy,
    name: "coder",
    scope: "project",
  });
  expect(review.refusals).toEqual([]);
  const saved = await site.send<SaveResult>("POST", "/api/agents", {
    text: copy,
    hash: null,
    scope: "project",
  });
  expect(saved.file).toBe(".retinue/agents/coder.md");
  const { agents } = await site.get<AgentList>("/api/agents");
  expect(
    agents.filter(({ name }) => name === "coder").map(({ scope, state }) => `${scope} ${state}`),
  ).toEqual(["project enabled", "builtin shadowed"]);
  expect(await site.refused("POST", "/api/agents", { text: copy, hash: null })).toMatchObject({
    status: 409,
  });
});

test("an agent of the user goes to the user's folder", async () => {
  await using site = await openAgentSite();
  const text = "---\nname: private\ndescription: Mine alone.\ntools: []\n---\nBe quiet.\n";
  await site.send<SaveResult>("POST", "/api/agents", { text, hash: null, scope: "user" });
  expect(readFileSync(join(site.homeDir, ".config/retinue/agents/private.md"), "utf8")).toBe(text);
});

test("an agent is removed with its file only", async () => {
  await using site = await openAgentSite();
  site.agent("mine", REVIEWER);
  site.agent("other", REVIEWER);
  const { hash } = await site.get<AgentDetail>("/api/agents/mine");
  expect(await site.send("DELETE", `/api/agents/mine?hash=${hash}`)).toEqual({ done: true });
  expect(readdirSync(join(site.projectDir, ".retinue/agents"))).toEqual(["other.md"]);
  const main = await site.get<AgentDetail>("/api/agents/main");
  expect(await site.refused("DELETE", `/api/agents/main?hash=${main.hash}`)).toMatchObject({ status: 403 });
});

test.each([
  [
    "the file",
    (project: string, outside: string) =>
      symlinkSync(join(outside, "x.md"), join(project, ".retinue/agents/x.md")),
  ],
  [
    "its folder",
    (project: string, outside: string) => symlinkSync(outside, join(project, ".retinue/agents/sub")),
  ],
  [
    "the agent folder",
    (project: string, outside: string) => symlinkSync(outside, join(project, ".claude/agents")),
  ],
])("nothing is written or removed through a link when %s leads outside", async (_what, link) => {
  await using site = await openAgentSite();
  const outside = join(site.root, "outside");
  mkdirSync(outside);
  const text = "---\nname: x\ndescription: X.\n---\nX.\n";
  writeFileSync(join(outside, "x.md"), text);
  for (const folder of [".retinue/agents", ".claude"])
    mkdirSync(join(site.projectDir, folder), { recursive: true });
  link(site.projectDir, outside);
  const { hash, review } = await site.get<AgentDetail>("/api/agents/x");
  expect(review.refusals).toEqual([expect.stringContaining("really lies elsewhere")]);
  expect((await site.refused("PUT", "/api/agents/x", { text: `${text}\nMore.`, hash })).message).toContain(
    "really lies elsewhere",
  );
  expect((await site.refused("DELETE", `/api/agents/x?hash=${hash}`)).status).toBe(403);
  expect(readFileSync(join(outside, "x.md"), "utf8")).toBe(text);
});

test("a new agent is not written through a linked folder", async () => {
  await using site = await openAgentSite();
  const outside = join(site.root, "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(site.projectDir, ".retinue"));
  const text = "---\nname: new\ndescription: New.\n---\nN.\n";
  expect((await site.refused("POST", "/api/agents", { text, hash: null })).status).toBe(422);
  expect(readdirSync(outside)).toEqual([]);
});

test.each(["../../evil", "..%2F..%2Fevil", "/etc/passwd", "a/b", "..", "evil\u0000", "~/.bashrc", "C:\\x"])(
  "the name %j leads nowhere but to a slug",
  async (name) => {
    await using site = await openAgentSite();
    const text = `---\nname: ${JSON.stringify(name)}\ndescription: E.\n---\nE.\n`;
    const saved = await site.send<SaveResult>("POST", "/api/agents", { text, hash: null }).catch(() => null);
    if (saved) expect(saved.file).toMatch(/^\.retinue\/agents\/[a-z0-9_-]+\.md$/);
    expect(readdirSync(site.root).filter((each) => each !== "data")).toEqual(["home", "project"]);
    expect(readdirSync(site.projectDir).filter((each) => each !== ".retinue")).toEqual([]);
    const encoded = encodeURIComponent(name);
    expect((await site.refused("GET", `/api/agents/${encoded}`)).status).toBeGreaterThanOrEqual(400);
    expect(
      (await site.refused("PUT", `/api/agents/${encoded}`, { text, hash: null })).status,
    ).toBeGreaterThanOrEqual(400);
    expect((await site.refused("GET", `/api/agents/main?file=${encoded}`)).status).toBeGreaterThanOrEqual(
      400,
    );
    expect(existsSync(join(site.root, "evil"))).toBe(false);
  },
);
