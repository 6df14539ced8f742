import { mkdirSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type AccountLimits, Ledger } from "../budget/ledger.ts";
import { accountLimits } from "../delegate/effective-limits.ts";
import { isBelow } from "../files/is-below.ts";
import { sessionLayer, settingsLayer } from "../rights/layers.ts";
import { protectedLayer } from "../rights/protected-layer.ts";
import { EarlierCalls } from "../run/earlier-calls.ts";
import { KnownAddresses } from "../run/known-addresses.ts";
import type { GitState, Lease } from "../run/ports.ts";
import { ProjectText } from "../run/project-text.ts";
import type { Host, Session } from "../run/run.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { SessionRow } from "../schema/record.ts";
import type { Layer } from "../schema/rights.ts";
import { cutAt } from "../tools/truncate.ts";
import { Observations } from "./observations.ts";
import type { FanOut } from "./root-tasks.ts";
import { fencedJournal, takeLease } from "./take-lease.ts";
import { createToolCache } from "./tool-cache.ts";

/** Opens a session: its folder, its row, its budget and the rights that stand above every agent in it. */
export async function openSession(
  host: Host,
  title: string,
  more: Pick<Terms, "fanOut"> = {},
): Promise<Session> {
  const id = host.createId("ses");
  const workspaceDir = join(host.dataDir, "sessions", id);
  makeFolder(workspaceDir);
  const shortTitle = cutAt(host.redactor.redact(title).replace(/\s+/g, " ").trim(), 120);
  const { settings } = host;
  const terms: Terms = {
    limits: {
      ...accountLimits(settings.limits),
      spawns: Math.min(settings.maxAgents, settings.limits.spawns ?? settings.maxAgents),
    },
    maxDepth: settings.maxDepth,
    readOnly: host.mode === "plan",
    projectText: false,
    ...(!host.triggers && { triggers: false }),
    ...(host.keeper !== undefined && { keeper: host.keeper }),
    ...more,
  };
  const place = {
    id,
    title: shortTitle,
    projectDir: realFolder(host.projectDir),
    workspaceDir: realpathSync(workspaceDir),
    startedAtMs: host.clock.wallMs(),
  };
  await host.record.startSession({
    sessionId: id,
    title: shortTitle,
    project: place.projectDir,
    workspace: workspaceDir,
    metadata: terms,
  });
  return assembleSession(host, { ...place, lease: await takeLease(host.record, id) }, terms);
}

/** At once: handing it to a thread takes ten times as long as the folder itself. */
function makeFolder(workspaceDir: string): void {
  try {
    mkdirSync(workspaceDir, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw new RetinueError(
      "store",
      `cannot make the session's folder ${workspaceDir}: ${messageOf(thrown)}`,
      "make the folder writable, or set RETINUE_HOME to another",
    );
  }
}

/** Opens a recorded session again, in its own folders and on its own terms. */
export async function adoptSession(host: Host, row: SessionRow, lease: Lease): Promise<Session> {
  // Empty ones are removed when the record is cleaned up.
  if (row.workspace === join(host.dataDir, "sessions", row.session_id))
    await mkdir(row.workspace, { recursive: true, mode: 0o700 }).catch(() => {});
  const place = {
    id: row.session_id,
    title: row.title,
    projectDir: realFolder(row.project),
    workspaceDir: realFolder(row.workspace),
    startedAtMs: Date.parse(row.created_at),
  };
  const { keeper, ...terms } = JSON.parse(row.metadata_json ?? "{}") as Terms;
  if (keeper !== host.keeper) {
    const metadata = { ...terms, ...(host.keeper !== undefined && { keeper: host.keeper }) };
    await host.record.write({ kind: "session.update", sessionId: place.id, change: { metadata } });
  }
  return assembleSession(
    host,
    { ...place, lease },
    { ...terms, ...(host.keeper !== undefined && { keeper: host.keeper }) },
  );
}

/** What a session keeps when it continues in another process. */
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

/** Puts an open session together. */
export async function assembleSession(host: Host, place: Place, terms: Terms): Promise<Session> {
  const { limits, maxDepth, readOnly, triggers = true } = terms;
  const { record, redactor } = host;
  const { id, title, projectDir, workspaceDir, lease } = place;
  const emit: Session["emit"] = (event, seq) => host.emit(id, event, seq);
  const observations = new Observations({
    workspaceDir,
    redact: (text) => redactor.redact(text),
    onFault: (message, runId) => emit({ type: "notice.raised", level: "warning", message, runId }),
  });
  const projectText = new ProjectText({
    isTrusted: isTrusted(host, projectDir),
    keep() {
      const change = { metadata: { ...terms, projectText: true } };
      record.append({ kind: "session.update", sessionId: id, change });
    },
  });
  if (terms.projectText) projectText.enter();
  emit({ type: "session.started", title, project: projectDir, workspace: workspaceDir });
  let git: Promise<GitState | null> | undefined;
  return {
    id,
    host,
    projectDir,
    workspaceDir,
    startedAtMs: place.startedAtMs,
    account: new Ledger(`session ${id}`, null, limits),
    base: baseLayers(host),
    maxDepth,
    readOnly: readOnly || host.mode === "plan",
    triggers,
    journal: await fencedJournal(record, lease),
    lease,
    live: new Map(),
    cache: createToolCache(),
    claims: new Map(),
    addresses: new KnownAddresses(host.settings.web.allowHosts),
    projectText,
    earlier: new EarlierCalls(),
    stop: null,
    gitState() {
      git ??= host.readGitState(projectDir);
      return git;
    },
    emit,
    observe: ({ runId }, path, text) => observations.add(path, text, runId),
    flushObserved: () => observations.flush(),
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
  host: Pick<Host, "dataDir" | "configDir" | "disallowedTools" | "mode" | "homeDir" | "settings">,
): Layer[] {
  const { dataDir, configDir, disallowedTools, mode, homeDir, settings } = host;
  const definitions = settings.agents.flatMap(({ source }) => source.promptFile ?? []);
  return [
    protectedLayer({ dataDir, configDir, homeDir, definitions }),
    settingsLayer(settings.permissions, homeDir),
    sessionLayer({ disallowedTools, readOnly: mode === "plan" }, homeDir),
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
