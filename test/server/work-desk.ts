import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProject } from "@retinue/builtin/load-project";
import type { Clock } from "@retinue/core/budget/clock";
import { createBlobStore } from "@retinue/core/record/blob-store";
import { type Script, type TestRuntime, type TestRuntimeOptions, testRuntime } from "@retinue/core/testing";
import { createApp } from "@retinue/server/create-app";
import type { ServerDesk } from "@retinue/server/desk";
import { Feeds } from "@retinue/server/feed/feeds";
import { PersonsDesk } from "@retinue/server/feed/persons-desk";
import { createGuard, type ServerGuards } from "@retinue/server/guard/create-guard";
import { createLiveProject } from "@retinue/server/live-project";
import { ALL_ROUTES } from "@retinue/server/routes/all-routes";
import { KEEPER } from "@retinue/server/work-left";

/** Where a server works; several may do so one after the other. */
export type Ground = { root: string; projectDir: string; dataDir: string; database: string };

export function makeGround(): Ground {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-server-")));
  const projectDir = join(root, "project");
  const dataDir = join(root, "data");
  mkdirSync(projectDir);
  return { root, projectDir, dataDir, database: join(dataDir, "retinue.db") };
}

export function clearGround({ root }: Ground): void {
  rmSync(root, { recursive: true, force: true });
}

/** The routes over a real runtime on scripted models; every answer is checked by its schema. */
export type WorkDesk = {
  readonly t: TestRuntime;
  readonly desk: ServerDesk;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  put(path: string, body: unknown): Promise<Answer>;
  /** The answer as it is. */
  raw(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
};

/** What a route answered; its JSON has been checked by the route's own schema. */
export type Answer = { status: number; body: Record<string, unknown> };

export type WorkOptions = TestRuntimeOptions & {
  clock?: Clock;
  approvalMinutes?: number;
  keeper?: string;
  guards?: Partial<ServerGuards>;
  /** What is otherwise at the desk. */
  desk?: Partial<ServerDesk>;
};

const PORT = 7478;
const ORIGIN = `http://127.0.0.1:${PORT}`;

export async function openDesk(
  ground: Ground,
  scripts: Readonly<Record<string, Script>>,
  { clock, approvalMinutes = 0, keeper = KEEPER, guards = {}, desk: more, ...options }: WorkOptions = {},
): Promise<WorkDesk> {
  const { projectDir, dataDir, database } = ground;
  const timed = clock ? { clock } : {};
  const person = new PersonsDesk({
    approvalMinutes,
    onChange: (sessionId) => feeds.asksChanged(sessionId),
    ...timed,
  });
  const places = { projectDir, dataDir, database };
  const given = { ...places, lenient: true, approve: person.approve, keeper, ...options };
  const t = testRuntime(scripts, { ...given, internals: { ...timed, ...options.internals } });
  const { runtime } = t;
  const feeds = new Feeds({ runtime, project: projectDir, version: "1", startedAtMs: 1, ...timed });
  person.attach(runtime);
  const from = { projectDir, env: { HOME: dataDir, RETINUE_HOME: dataDir } };
  const desk: ServerDesk = {
    runtime,
    project: createLiveProject(from, await loadProject(from)),
    tools: [],
    blobs: createBlobStore(join(dataDir, "blobs")),
    feeds,
    person,
    version: "1",
    startedAtMs: 1,
    agent: Object.keys(scripts)[0] ?? "main",
    model: undefined,
    permissionMode: "default",
    paced: new Set(),
    checkHealth: async () => [{ check: "keys", verdict: "ok", summary: "fine" }],
    ...more,
  };
  const guard = createGuard({ key: Buffer.alloc(32, 7), port: PORT, origin: ORIGIN, guards });
  const faults: unknown[] = [];
  const app = createApp({
    desk,
    routes: ALL_ROUTES,
    guard,
    assetsDir: join(ground.root, "web"),
    checkAnswers: true,
    onFault: (thrown) => faults.push(thrown),
  });
  const raw = async (path: string, init: RequestInit = {}) =>
    app.request(
      new Request(`${ORIGIN}${path}`, {
        ...init,
        headers: {
          host: `127.0.0.1:${PORT}`,
          authorization: `Bearer ${guard.bearer}`,
          ...(init.body !== undefined && { "content-type": "application/json" }),
        },
      }),
    );
  const ask = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await raw(path, init);
    const answer = { status: response.status, body: (await response.json()) as Record<string, unknown> };
    if (answer.status === 500)
      throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)} ${faults.join()}`);
    return answer;
  };
  return {
    t,
    desk,
    get: (path) => ask("GET", path),
    post: (path, body) => ask("POST", path, body),
    put: (path, body) => ask("PUT", path, body),
    raw,
    async stop() {
      feeds.close();
      person.close();
      await runtime.leave();
    },
  };
}
