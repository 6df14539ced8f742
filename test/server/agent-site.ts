import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builtInTools } from "@retinue/builtin/built-in-tools";
import { loadProject } from "@retinue/builtin/load-project";
import { systemClock } from "@retinue/core/budget/clock";
import { createBlobStore } from "@retinue/core/record/blob-store";
import { testRuntime } from "@retinue/core/testing";
import { createApp } from "@retinue/server/create-app";
import type { ServerDesk } from "@retinue/server/desk";
import { Feeds } from "@retinue/server/feed/feeds";
import { PersonsDesk } from "@retinue/server/feed/persons-desk";
import { createGuard } from "@retinue/server/guard/create-guard";
import { createLiveProject } from "@retinue/server/live-project";
import { ALL_ROUTES } from "@retinue/server/routes/all-routes";

const PORT = 7478;
const ORIGIN = `http://127.0.0.1:${PORT}`;

/** A server over a project of real files, every answer of which is checked by its schema. */
export type AgentSite = {
  readonly desk: ServerDesk;
  readonly root: string;
  readonly projectDir: string;
  readonly homeDir: string;
  /** How often browsers were told that agents have changed. */
  told: number;
  write(path: string, text: string): string;
  read(path: string): string;
  agent(name: string, frontmatter: string, body?: string): string;
  get<Answer>(path: string): Promise<Answer>;
  send<Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The status and the error of a request that is refused. */
  refused(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; code: string; message: string }>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens one. */
export async function openAgentSite(mode = "default"): Promise<AgentSite> {
  const root = mkdtempSync(join(tmpdir(), "retinue-agents-"));
  const [projectDir, homeDir] = [join(root, "project"), join(root, "home")];
  mkdirSync(projectDir);
  mkdirSync(homeDir);
  const t = testRuntime({ main: [] }, { lenient: true, projectDir, dataDir: join(root, "data") });
  const options = { projectDir, env: { HOME: homeDir, RETINUE_HOME: join(root, "data") } };
  const feeds = new Feeds({ runtime: t.runtime, project: projectDir, version: "0", startedAtMs: 0 });
  feeds.agentsChanged = () => {
    site.told++;
  };
  const desk: ServerDesk = {
    runtime: t.runtime,
    project: createLiveProject(options, await loadProject(options)),
    tools: builtInTools,
    blobs: createBlobStore(join(root, "data", "blobs")),
    feeds,
    person: new PersonsDesk({ approvalMinutes: 0, onChange: () => {} }),
    version: "0.0.0",
    startedAtMs: 0,
    agent: "main",
    model: undefined,
    permissionMode: mode,
    paced: new Set(),
    checkHealth: async () => [],
  };
  const guard = createGuard({
    key: Buffer.alloc(32, 7),
    port: PORT,
    origin: ORIGIN,
    clock: systemClock,
    guards: { writes: { burst: 10_000, perSecond: 10_000 } },
  });
  const faults: unknown[] = [];
  const onFault = (thrown: unknown) => faults.push(thrown);
  const app = createApp({ desk, routes: ALL_ROUTES, guard, assetsDir: root, checkAnswers: true, onFault });
  const ask = (method: string, path: string, body?: unknown) =>
    app.request(
      new Request(`${ORIGIN}${path}`, {
        method,
        headers: {
          host: `127.0.0.1:${PORT}`,
          authorization: `Bearer ${guard.bearer}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const site: AgentSite = {
    desk,
    root,
    projectDir,
    homeDir,
    told: 0,
    write(path, text) {
      const file = join(projectDir, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return text;
    },
    read: (path) => readFileSync(join(projectDir, path), "utf8"),
    agent: (name, frontmatter, body = "Do it.") =>
      site.write(`.retinue/agents/${name}.md`, `---\nname: ${name}\n${frontmatter}\n---\n${body}\n`),
    get: (path) => site.send("GET", path),
    async send<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
      const answer = await ask(method, path, body);
      const json: unknown = await answer.json();
      if (!answer.ok)
        throw new Error(`${answer.status} ${JSON.stringify(json)} ${String(faults.at(-1) ?? "")}`);
      return json as Answer;
    },
    async refused(method, path, body) {
      const answer = await ask(method, path, body);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      return { status: answer.status, ...error };
    },
    async [Symbol.asyncDispose]() {
      feeds.close();
      await t.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return site;
}
