import { realpathSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Clock } from "../budget/clock.ts";
import { type AccountLimits, Ledger } from "../budget/ledger.ts";
import type { Limiter } from "../budget/limiter.ts";
import { accountLimits } from "../delegate/effective-limits.ts";
import { isBelow } from "../files/is-below.ts";
import { sessionLayer, settingsLayer } from "../rights/layers.ts";
import { protectedLayer } from "../rights/protected-layer.ts";
import type { LoopPorts, Redactor } from "../run/ports.ts";
import { ProjectText } from "../run/project-text.ts";
import type { Recorded } from "../run/replay/recorded.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { SessionRow } from "../schema/record.ts";
import type { Layer } from "../schema/rights.ts";
import { cutAt } from "../tools/truncate.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import type { Approver, PermissionMode } from "./approvals.ts";
import { createId } from "./create-id.ts";
import { type GitState, readGitState } from "./describe-environment.ts";
import type { EventBus } from "./event-bus.ts";
import type { Host, LiveRun, Session } from "./host.ts";
import { Observations } from "./observations.ts";
import type { RecordedAsks } from "./recorded-asks.ts";
import type { FanOut } from "./root-tasks.ts";
import { createSessionPorts } from "./session-ports.ts";
import { fencedJournal, type Lease, takeLease } from "./take-lease.ts";

/** What all sessions of a runtime are opened with. */
export type SessionMaker = {
  host: Host;
  bus: EventBus;
  clock: Clock;
  random: () => number;
  redactor: Redactor;
  approve: Approver;
  asks: RecordedAsks;
  limiters: Map<string, Limiter>;
  maxConcurrent: (provider: string) => number;
  liveLayers: LoopPorts["liveLayers"];
  projectDir: string;
  dataDir: string;
  configDir: string;
  disallowedTools: readonly string[];
  mode: PermissionMode;
  recorded: Recorded | null;
  /** Words of a request may make a delegation mandatory. */
  triggers: boolean;
  /** Keeps asks for later; absent: without a person they are denied. */
  desk?: ApprovalDesk | undefined;
  /** Who looks after sessions that are left open. */
  keeper?: string | undefined;
};

/** Opens a session: its folder, its row, its budget and the rights that stand above every agent in it. */
export async function openSession(
  maker: SessionMaker,
  title: string,
  more: Pick<Terms, "fanOut"> = {},
): Promise<Session> {
  const { host, redactor } = maker;
  const id = createId("ses");
  const workspaceDir = join(maker.dataDir, "sessions", id);
  await mkdir(workspaceDir, { recursive: true, mode: 0o700 }).catch((thrown) => {
    throw new RetinueError(
      "store",
      `cannot make the session's folder ${workspaceDir}: ${messageOf(thrown)}`,
      "make the folder writable, or set RETINUE_HOME to another",
    );
  });
  const shortTitle = cutAt(redactor.redact(title).replace(/\s+/g, " ").trim(), 120);
  const { settings } = host;
  const terms: Terms = {
    limits: {
      ...accountLimits(settings.limits),
      spawns: Math.min(settings.maxAgents, settings.limits.spawns ?? settings.maxAgents),
    },
    maxDepth: settings.maxDepth,
    readOnly: maker.mode === "plan",
    projectText: false,
    ...(!maker.triggers && { triggers: false }),
    ...(maker.keeper !== undefined && { keeper: maker.keeper }),
    ...more,
  };
  const place = {
    id,
    title: shortTitle,
    projectDir: realFolder(maker.projectDir),
    workspaceDir,
    startedAtMs: maker.clock.wallMs(),
  };
  host.store.startSession({
    sessionId: id,
    title: shortTitle,
    project: place.projectDir,
    workspace: workspaceDir,
    metadata: terms,
  });
  return assembleSession(maker, { ...place, lease: takeLease(host.store, id) }, terms);
}

/** Opens a recorded session again, in its own folders and on its own terms. */
export async function adoptSession(maker: SessionMaker, row: SessionRow, lease: Lease): Promise<Session> {
  // Empty ones are removed when the record is cleaned up.
  if (row.workspace === join(maker.dataDir, "sessions", row.session_id))
    await mkdir(row.workspace, { recursive: true, mode: 0o700 }).catch(() => {});
  const place = {
    id: row.session_id,
    title: row.title,
    projectDir: realFolder(row.project),
    workspaceDir: realFolder(row.workspace),
    startedAtMs: Date.parse(row.created_at),
  };
  const { keeper, ...terms } = JSON.parse(row.metadata_json ?? "{}") as Terms;
  if (keeper !== maker.keeper) {
    const metadata = { ...terms, ...(maker.keeper !== undefined && { keeper: maker.keeper }) };
    maker.host.store.updateSession(place.id, { metadata });
  }
  return assembleSession(
    maker,
    { ...place, lease },
    { ...terms, ...(maker.keeper !== undefined && { keeper: maker.keeper }) },
  );
}

/** What a session keeps to when it goes on in another process. */
export type Terms = {
  limits: AccountLimits;
  maxDepth: number;
  readOnly: boolean;
  /** False: no words of a request make a delegation mandatory. */
  triggers?: boolean;
  fanOut?: FanOut;
  /** Whether text of the project has entered it; absent in records of before this was kept. */
  projectText?: boolean;
  /** Who had it last, if that was somebody who looks after what is left open. */
  keeper?: string;
};
type Place = Pick<Session, "id" | "projectDir" | "workspaceDir" | "startedAtMs" | "lease"> & {
  title: string;
};

/** Puts an open session together. A replay works on its recorded paths, which need not be there any more. */
export async function assembleSession(maker: SessionMaker, place: Place, terms: Terms): Promise<Session> {
  const { limits, maxDepth, readOnly, triggers = true } = terms;
  const { bus, clock } = maker;
  const { id, title, projectDir, lease } = place;
  const workspaceDir = await realpath(place.workspaceDir).catch((thrown) => {
    if (maker.recorded) return place.workspaceDir;
    throw thrown;
  });
  const live = new Map<string, LiveRun>();
  let git: Promise<GitState | null> | undefined;
  const observations = new Observations({
    workspaceDir: maker.recorded ? null : workspaceDir,
    redact: (text) => maker.redactor.redact(text),
    onFault: (message, runId) =>
      bus.publish({
        type: "notice.raised",
        level: "warning",
        message,
        runId,
        sessionId: id,
        atMs: clock.wallMs(),
      }),
  });
  const projectText = new ProjectText({
    isTrusted: isTrusted(maker.host, projectDir),
    keep() {
      if (!maker.recorded) maker.host.store.updateSession(id, { metadata: { ...terms, projectText: true } });
    },
  });
  if (terms.projectText) projectText.enter();
  if (bus.watched) {
    const about = { title, project: projectDir, workspace: workspaceDir };
    bus.publish({ type: "session.started", ...about, sessionId: id, atMs: clock.wallMs() });
  }
  return {
    id,
    projectDir,
    workspaceDir,
    startedAtMs: place.startedAtMs,
    gitState() {
      git ??= maker.recorded ? Promise.resolve(null) : readGitState(projectDir);
      return git;
    },
    account: new Ledger(`session ${id}`, null, limits),
    base: baseLayers(maker),
    maxDepth,
    triggers,
    ports: createSessionPorts({
      ...maker,
      live,
      observations,
      projectText,
      mode: readOnly ? "plan" : maker.mode,
      journal: fencedJournal(maker.host.store, lease),
    }),
    live,
    stop: null,
    lease,
    observations,
  };
}

function isTrusted({ settings, homeDir }: Pick<Host, "settings" | "homeDir">, projectDir: string): boolean {
  return settings.trustedProjects.some((named) => {
    const folder = resolve(homeDir, named.replace(/^~(?=\/|$)/, homeDir));
    try {
      return isBelow(projectDir, realpathSync(folder));
    } catch {
      return false;
    }
  });
}

/** The layers that no agent can get around. */
export function baseLayers(
  maker: Pick<SessionMaker, "dataDir" | "configDir" | "disallowedTools" | "mode"> & {
    host: Pick<Host, "homeDir" | "settings">;
  },
): Layer[] {
  const { homeDir, settings } = maker.host;
  const definitions = settings.agents.flatMap(({ source }) => source.promptFile ?? []);
  return [
    protectedLayer({ dataDir: maker.dataDir, configDir: maker.configDir, homeDir, definitions }),
    settingsLayer(settings.permissions, homeDir),
    sessionLayer({ disallowedTools: maker.disallowedTools, readOnly: maker.mode === "plan" }, homeDir),
  ];
}

/** The real path of a folder; an error for a person if it cannot be used. */
export function realFolder(path: string): string {
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
