import { realpathSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Redactor } from "../loop/ports.ts";
import { sessionLayer, settingsLayer } from "../permissions/layers.ts";
import { protectedLayer } from "../permissions/protected-layer.ts";
import type { Clock } from "../scheduler/clock.ts";
import { Account } from "../scheduler/ledger.ts";
import type { Limiter } from "../scheduler/limiter.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { Layer } from "../schema/rights.ts";
import { cutAt } from "../tools/truncate.ts";
import type { Approver, PermissionMode } from "./approvals.ts";
import { createId } from "./create-id.ts";
import { accountLimits } from "./effective-limits.ts";
import type { EventBus } from "./event-bus.ts";
import type { Host, LiveRun, Session } from "./host.ts";
import { createSessionPorts } from "./session-ports.ts";

/** What all sessions of a runtime are opened with. */
export type SessionMaker = {
  host: Host;
  bus: EventBus;
  clock: Clock;
  random: () => number;
  redactor: Redactor;
  approve: Approver;
  limiters: Map<string, Limiter>;
  maxConcurrent: (provider: string) => number;
  liveLayer: () => Layer | null;
  projectDir: string;
  dataDir: string;
  configDir: string;
  disallowedTools: readonly string[];
  mode: PermissionMode;
};

/** Opens a session: its folder, its row, its budget and the rights that stand above every agent in it. */
export async function openSession(maker: SessionMaker, title: string): Promise<Session> {
  const { host, clock, bus } = maker;
  const id = createId("ses");
  const workspaceDir = join(maker.dataDir, "sessions", id);
  await mkdir(workspaceDir, { recursive: true, mode: 0o700 }).catch((thrown) => {
    throw new RetinueError(
      "store",
      `cannot make the session's folder ${workspaceDir}: ${messageOf(thrown)}`,
      "make the folder writable, or set RETINUE_HOME to another",
    );
  });
  const live = new Map<string, LiveRun>();
  const ports = createSessionPorts({ ...maker, live });
  const shortTitle = cutAt(ports.redactor.redact(title).replace(/\s+/g, " ").trim(), 120);
  host.store.startSession({
    sessionId: id,
    title: shortTitle,
    project: maker.projectDir,
    workspace: workspaceDir,
  });
  if (bus.watched) {
    bus.publish({
      type: "session.started",
      title: shortTitle,
      project: maker.projectDir,
      workspace: workspaceDir,
      sessionId: id,
      atMs: clock.wallMs(),
    });
  }
  const { settings } = host;
  return {
    id,
    projectDir: realFolder(maker.projectDir),
    workspaceDir: await realpath(workspaceDir),
    account: new Account(`session ${id}`, null, {
      ...accountLimits(settings.limits),
      spawns: settings.maxAgents,
    }),
    base: baseLayers(maker),
    maxDepth: settings.maxDepth,
    ports,
    live,
  };
}

/** The layers that no agent can get around. */
export function baseLayers(
  maker: Pick<SessionMaker, "dataDir" | "configDir" | "disallowedTools" | "mode"> & {
    host: Pick<Host, "homeDir" | "settings">;
  },
): Layer[] {
  const { homeDir, settings } = maker.host;
  return [
    protectedLayer({ dataDir: maker.dataDir, configDir: maker.configDir, homeDir }),
    settingsLayer(settings.permissions, homeDir),
    sessionLayer({ disallowedTools: maker.disallowedTools, readOnly: maker.mode === "plan" }, homeDir),
  ];
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch (thrown) {
    throw new RetinueError(
      "input",
      `the project folder ${path} cannot be used: ${messageOf(thrown)}`,
      "name an existing folder with -C",
    );
  }
}
