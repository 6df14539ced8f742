import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readPrivate, writePrivate } from "@retinue/core/files/private-file";
import { storeError } from "@retinue/core/record/sqlite/sqlite-failure";
import { RetinueError } from "@retinue/core/schema/error";
import { isRecord } from "@retinue/core/schema/json-object";
import { makeBearer } from "./guard/credentials.ts";
import { loadServerKey, serverFolder } from "./guard/server-key.ts";

/** What a server writes down so that others of the same user find it. */
type ServerNote = {
  readonly pid: number;
  readonly port: number;
  readonly origin: string;
  readonly startedAt: string;
  /** Names this start; with the key it makes the bearer key. */
  readonly startId: string;
};

/** Which server: that of one project, in one data folder. */
type ServerPlace = { readonly dataDir: string; readonly projectDir: string };

/** A server of the same project that answers. */
type RunningServer = ServerNote & {
  /** The key for programs of the same user, as long as this server runs. */
  readonly bearer: string;
  /** Asks it for a link that lets one browser in. */
  link(): Promise<string>;
};

const PATIENCE_MS = 2_000;

/** Writes the note. */
export async function writeServerNote(place: ServerPlace, note: ServerNote): Promise<void> {
  const path = notePath(place);
  await writePrivate(path, JSON.stringify(note)).catch((thrown) => {
    throw storeError(`${path} cannot be written`, thrown);
  });
}

/** Takes the note away, unless it is already another server's. */
export async function removeServerNote(place: ServerPlace, startId: string): Promise<void> {
  const note = await readNote(place);
  if (note?.startId === startId) await rm(notePath(place), { force: true });
}

/** The server that already runs for a project; null if none answers as one of ours would. */
export async function findRunningServer(place: ServerPlace): Promise<RunningServer | null> {
  const note = await readNote(place);
  if (!note) return null;
  const key = await loadServerKey(place.dataDir);
  // Of this start only: another program that has the port by now learns nothing of use.
  const bearer = makeBearer({ key, startId: note.startId });
  const about = await ask(`${note.origin}/api/about`, "GET", bearer).catch(() => null);
  if (!about) return null;
  return {
    ...note,
    bearer,
    async link() {
      const answer = await ask(`${note.origin}/api/links`, "POST", bearer).catch(() => null);
      if (typeof answer?.url === "string") return answer.url;
      const hint = `end process ${note.pid}, then run retinue serve again`;
      throw new RetinueError("failed", `the server at ${note.origin} gives no link`, hint);
    },
  };
}

async function ask(url: string, method: string, bearer: string): Promise<Record<string, unknown> | null> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${bearer}` },
    redirect: "error",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const value: unknown = response.ok ? await response.json() : null;
  return isRecord(value) ? value : null;
}

async function readNote(place: ServerPlace): Promise<ServerNote | null> {
  const text = await readPrivate(notePath(place), "write").catch(() => null);
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return isNote(value) ? value : null;
  } catch {
    return null;
  }
}

function isNote(value: unknown): value is ServerNote {
  if (!isRecord(value)) return false;
  const { pid, port, origin, startId } = value;
  if (typeof pid !== "number" || typeof port !== "number" || typeof startId !== "string") return false;
  return typeof origin === "string" && /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+$/.test(origin);
}

function notePath({ dataDir, projectDir }: ServerPlace): string {
  const name = createHash("sha256").update(realpathSync(projectDir)).digest("hex").slice(0, 16);
  return join(serverFolder(dataDir), `${name}.json`);
}
