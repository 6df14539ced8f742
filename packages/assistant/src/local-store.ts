// Where the local store is, and how it is filled at first.

import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import type { AssistantSettings } from "@retinue/core/schema/settings";
import { findMachineZone, isZone } from "@retinue/core/text/zone";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { locateAccountFile } from "./accounts/accounts.ts";
import type { EmbeddedStore } from "./embedded/embedded-store.ts";
import { recordIn, textIn } from "./service-tools/service-requests.ts";
import { ToolFault } from "./service-tools/tool-fault.ts";

/** Where the local store is: a database, and the folder whose files it is filled with at first. */
type LocalStore = { readonly file: string; readonly folder?: string };

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const MAX_OWNER_BYTES = 10_000;

/**
 * The local store that the settings choose. A folder that a project named serves only a user without any account, so that
 * a project's address book never tells where real mail goes; its real path must be inside of the project.
 */
export function chooseLocalStore(
  { folder, folderWithin }: AssistantSettings,
  { dataDir }: Pick<HostPlaces, "dataDir">,
  { hasAny }: { readonly hasAny: boolean },
): LocalStore {
  const stores = join(dataDir, "assistant");
  if (folder === undefined || (folderWithin !== undefined && hasAny))
    return { file: join(stores, "mailbox.db") };
  const real = resolveFolder(folder, folderWithin);
  const hash = createHash("sha256").update(real).digest("hex").slice(0, 32);
  return { file: join(stores, `${hash}.db`), folder: real };
}

/** Opens a local store, and fills it with its folder's files if that has never been done to the end. */
export async function openLocalStore(
  { file, folder }: LocalStore,
  { zone, now }: { readonly zone: string; readonly now: () => number },
): Promise<EmbeddedStore> {
  const { openEmbedded } = await import("./embedded/embedded-store.ts");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const store = openEmbedded({ file, now, zone });
  try {
    if (folder !== undefined) await fillOnce(store, file, folder);
    return store;
  } catch (thrown) {
    store.close();
    throw thrown;
  }
}

/**
 * The zone that times without one are meant in: the settings' own, that of the folder's owner, or the machine's. Where
 * there are accounts, a project's folder has no say in it.
 */
export function findZone(
  { timezone, folder, folderWithin }: AssistantSettings,
  { env, configDir }: Pick<HostPlaces, "env" | "configDir">,
): string {
  const isProjects = folderWithin !== undefined && existsSync(locateAccountFile(configDir));
  const owners = folder === undefined || isProjects ? undefined : readOwnerZone(folder, folderWithin);
  return [timezone, owners, env.TZ].find((name) => name !== undefined && isZone(name)) ?? findMachineZone();
}

/** An import skips what is stored already, so one that was interrupted is repeated. */
async function fillOnce(store: EmbeddedStore, file: string, folder: string): Promise<void> {
  const mark = `${file}.filled`;
  const isFilled = await access(mark).then(
    () => true,
    () => false,
  );
  if (isFilled && !store.database().isEmpty()) return;
  const { importFolder } = await import("./embedded/import-files.ts");
  await importFolder(store, folder);
  await writeFile(mark, `${folder}\n`, { mode: 0o600 });
}

function resolveFolder(folder: string, within: string | undefined): string {
  let real: string;
  try {
    real = realpathSync(folder);
    if (within === undefined || isBelow(real, realpathSync(within))) return real;
  } catch {
    throw new ToolFault("tool_error", `the folder ${folder} of the settings' assistant.folder is not there`);
  }
  throw new ToolFault(
    "tool_error",
    `the folder ${folder} leads out of the project, to ${real}, and is not read`,
  );
}

function readOwnerZone(folder: string, within: string | undefined): string | undefined {
  try {
    return textIn(
      recordIn(JSON.parse(readSmallFile(join(resolveFolder(folder, within), "owner.json")))).zone,
    );
  } catch {
    return undefined;
  }
}

/** The text of a small regular file; a link might lead to a device that never ends or blocks. */
function readSmallFile(path: string): string {
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= MAX_OWNER_BYTES ? readFileSync(descriptor, "utf8") : "null";
  } finally {
    closeSync(descriptor);
  }
}
