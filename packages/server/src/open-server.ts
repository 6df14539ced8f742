import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { getRequestListener, RequestError } from "@hono/node-server";
import { builtInTools, paceTools } from "@retinue/builtin/built-in-tools";
import { createBuiltInRuntime, pickProjectOptions } from "@retinue/builtin/create-runtime";
import type { Project } from "@retinue/builtin/load-project";
import { PACKAGE_ROOT } from "@retinue/core/files/package-root";
import type { Environment } from "@retinue/core/models/providers";
import { createBlobStore } from "@retinue/core/record/blob-store";
import { messageOf } from "@retinue/core/schema/error";
import type { PermissionMode } from "@retinue/core/schema/rights";
import { createApp, type ServerApp } from "./create-app.ts";
import type { BackgroundPorts, ServerDesk } from "./desk.ts";
import { Feeds } from "./feed/feeds.ts";
import { PersonsDesk } from "./feed/persons-desk.ts";
import { createGuard, type RequestGuard } from "./guard/create-guard.ts";
import { createNonce } from "./guard/security-headers.ts";
import { loadServerKey } from "./guard/server-key.ts";
import { answerError } from "./http/http-errors.ts";
import { keepClean } from "./keep-clean.ts";
import { type Listening, type ListenOptions, listen } from "./listen.ts";
import { createLiveProject, liveRegistry } from "./live-project.ts";
import { ALL_ROUTES } from "./routes/all-routes.ts";
import { removeServerNote, writeServerNote } from "./running-server.ts";
import { KEEPER, takeUpLeft } from "./work-left.ts";

/** What a server is opened with. */
type ServerOptions = ListenOptions & {
  readonly project: Project;
  readonly projectDir: string;
  readonly env: Environment;
  readonly agent: string;
  readonly model?: string | undefined;
  readonly permissionMode: PermissionMode;
  /** After so many minutes an unanswered question is denied; 0 is never. */
  readonly approvalMinutes: number;
  readonly version: string;
  readonly checkHealth: ServerDesk["checkHealth"];
  readonly onFault?: (thrown: unknown, request: string) => void;
  /** Told what the person at the terminal may want to know. */
  readonly onNotice?: (message: string) => void;
};

/** A server that answers. */
export type OpenedServer = {
  readonly port: number;
  readonly origin: string;
  readonly desk: ServerDesk;
  /** Makes a link that lets one browser in. */
  link(): string;
  /**
   * Begins nothing more and, once calls under way had so long to end, stops answering. Sessions stay as they are in the record,
   * and are resumed when the server starts again.
   */
  close(graceMs?: number): Promise<void>;
};

const ASSETS = join(PACKAGE_ROOT, "dist", "web");

/** Opens the runtime of a project and serves it on this machine. */
export async function openServer(options: ServerOptions): Promise<OpenedServer> {
  const { dataDir } = options.project.places;
  const projectDir = realpathSync(options.projectDir);
  const key = await loadServerKey(dataDir);
  const listening = await listen(options);
  const { server, port, origin } = listening;
  const opened: { desk?: ServerDesk } = {};
  try {
    const desk = openDesk(options, projectDir);
    opened.desk = desk;
    const startId = randomBytes(12).toString("base64url");
    const guard = createGuard({ key, port, origin, startId });
    const { onFault } = options;
    const app = createApp({
      desk,
      routes: ALL_ROUTES,
      guard,
      assetsDir: ASSETS,
      ...(onFault && { onFault }),
    });
    server.on("request", requestListener(app, guard));
    const place = { dataDir, projectDir };
    const startedAt = new Date(desk.startedAtMs).toISOString();
    await writeServerNote(place, { pid: process.pid, port, origin, startedAt, startId });
    const ports = (work: string): BackgroundPorts => ({
      tell: (message) => options.onNotice?.(message),
      onFault: (thrown) => onFault?.(thrown, work),
    });
    // Taken up while this server already answers.
    const stopLooking = takeUpLeft(desk, ports("going on with what was left"));
    const stopCleaning = keepClean(desk, ports("removing old sessions"));
    const close = async (graceMs = 0) => {
      stopLooking();
      stopCleaning();
      // Meanwhile it still answers: who looks on sees the calls end.
      const drained = graceMs > 0 ? desk.runtime.drain(graceMs) : Promise.resolve();
      await Promise.all([drained, removeServerNote(place, startId)]).finally(() => closeAll(listening, desk));
    };
    return { port, origin, desk, link: guard.link, close };
  } catch (thrown) {
    await closeAll(listening, opened.desk);
    throw thrown;
  }
}

/** The runtime with everything that routes work with. */
function openDesk(options: ServerOptions, projectDir: string): ServerDesk {
  const { env, agent, model, permissionMode, version, checkHealth } = options;
  const { dataDir } = options.project.places;
  const project = createLiveProject({ projectDir, env }, options.project);
  const startedAtMs = Date.now();
  const person = new PersonsDesk({
    approvalMinutes: options.approvalMinutes,
    onChange: (sessionId) => feeds.asksChanged(sessionId),
    onFault: (sessionId, thrown) =>
      options.onNotice?.(`the session ${sessionId} does not go on: ${messageOf(thrown)}`),
  });
  const paced = new Set<string>();
  const runtime = createBuiltInRuntime({
    ...pickProjectOptions(options.project, { projectDir, env }),
    agents: liveRegistry(project),
    tools: paceTools(builtInTools, ({ sessionId }) => paced.has(sessionId)),
    permissionMode,
    approve: person.approve,
    keeper: KEEPER,
  });
  // Before anything else listens: notices raised while the record was opened wait for the first listener.
  runtime.events((event) => {
    if (event.type === "notice.raised" && event.sessionId === "") options.onNotice?.(event.message);
  });
  const feeds = new Feeds({ runtime, project: projectDir, version, startedAtMs });
  person.attach(runtime);
  return {
    ...{ env, runtime, project, feeds, person, paced, version, startedAtMs },
    ...{ agent, model, permissionMode, checkHealth },
    tools: builtInTools,
    blobs: createBlobStore(join(dataDir, "blobs")),
  };
}

/** What cannot even be read as a request is refused with the same headers as everything else. */
function requestListener(app: ServerApp, { guards }: RequestGuard): ReturnType<typeof getRequestListener> {
  return getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler(thrown) {
      const isTheirs = thrown instanceof RequestError;
      const message = isTheirs ? "the request cannot be read" : "something went wrong inside the server";
      const code = isTheirs ? "request" : "internal";
      const response = answerError(isTheirs ? 400 : 500, { code, message, hint: null });
      guards.protect(response.headers, { isApi: true, isLasting: false, nonce: createNonce() });
      return response;
    },
  });
}

/** Sessions are left as they are in the record: no run is ended because the server is. */
async function closeAll({ server }: Listening, desk: ServerDesk | undefined): Promise<void> {
  desk?.feeds.close();
  desk?.person.close();
  server.close();
  server.closeAllConnections();
  await desk?.runtime.leave();
}
