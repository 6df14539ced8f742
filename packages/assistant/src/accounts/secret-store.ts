// Where the secrets of accounts are kept: the system's keyring, or files of the user's own.

import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { AsyncEntry } from "@napi-rs/keyring";
import { closeFolder, readPrivate, writePrivate } from "@retinue/core/files/private-file";
import { RetinueError } from "@retinue/core/schema/error";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { isJsonObject } from "../service-tools/service-requests.ts";
import type { Account, Secrets } from "./accounts.ts";

/** Where secrets are kept, by the id of the account. */
export type SecretStore = {
  readonly where: Account["tokens"];
  read(id: string): Promise<Secrets | null>;
  write(id: string, secrets: Secrets): Promise<void>;
  remove(id: string): Promise<void>;
};

/** The places that a store of secrets depends on. */
type SecretPlaces = Pick<HostPlaces, "env" | "dataDir" | "configDir">;

const SERVICE = "retinue";
/** A locked keyring may ask the person for its password; a broken one never answers. */
const PATIENCE_MS = 30_000;
/** The kernel's keyring would forget everything at the next start, so on Linux only a Secret Service will do. */
const OPTIONS = { linux: { store: "secret-service" } } as const;

let probed: Promise<boolean> | undefined;

/** The system's keyring if it works here, else files that only the user can read. */
export async function chooseSecretStore(places: SecretPlaces): Promise<SecretStore> {
  return (await openKeyring(places)) ?? createFileStore(places);
}

/** The store that an account's secrets are in. */
export async function findSecretStore(
  { id, tokens }: Pick<Account, "id" | "tokens">,
  places: SecretPlaces,
): Promise<SecretStore> {
  if (tokens === "file") return createFileStore(places);
  const keyring = await openKeyring(places);
  if (keyring) return keyring;
  throw new RetinueError(
    "auth",
    `the secrets of account '${id}' are in the system's keyring, which cannot be reached here`,
    "unlock the keyring, or add the account again to keep its secrets in a file",
  );
}

/** One file for each account, in a folder of its own. */
export function createFileStore({ dataDir }: Pick<SecretPlaces, "dataDir">): SecretStore {
  const folder = join(dataDir, "secrets");
  const locateFile = (id: string) => join(folder, `${id}.json`);
  return {
    where: "file",
    async read(id) {
      if ((await closeFolder(folder)) === null) return null;
      const text = await readPrivate(locateFile(id), "read");
      return text === null ? null : parseSecrets(text, id);
    },
    async write(id, secrets) {
      await closeFolder(folder);
      await writePrivate(locateFile(id), JSON.stringify(secrets));
    },
    remove: (id) => rm(locateFile(id), { force: true }),
  };
}

/** Secrets from their text, whose content no error repeats. */
function parseSecrets(text: string, id: string): Secrets {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value))
      return Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      );
  } catch {
    // The parser's own words would quote the text.
  }
  throw new RetinueError("auth", `the secrets of account '${id}' are damaged`, "add the account again");
}

/** The system's keyring; null where there is none that works, or where `RETINUE_KEYRING=off`. */
export async function openKeyring({ env, configDir }: SecretPlaces): Promise<SecretStore | null> {
  if (/^(?:off|0|no|false)$/i.test(env.RETINUE_KEYRING ?? "")) return null;
  probed ??= isKeyringWorking();
  if (!(await probed)) return null;
  const ask = async <Value>(id: string, what: string, work: (entry: AsyncEntry) => Promise<Value>) => {
    try {
      return await work(await openEntry(`${configDir}#${id}`));
    } catch {
      // The keyring's own words are left out: they might repeat what was to be kept.
      throw new RetinueError(
        "auth",
        `the secrets of account '${id}' cannot be ${what} in the system's keyring`,
        "unlock the keyring; with RETINUE_KEYRING=off new accounts use files instead",
      );
    }
  };
  return {
    where: "keyring",
    async read(id) {
      const text = await ask(id, "read", (entry) => entry.getPassword(limitTime()));
      return text === null || text === undefined ? null : parseSecrets(text, id);
    },
    write: (id, secrets) =>
      ask(id, "written", (entry) => entry.setPassword(JSON.stringify(secrets), limitTime())),
    async remove(id) {
      await ask(id, "deleted", (entry) => entry.deletePassword(limitTime()));
    },
  };
}

async function openEntry(name: string): Promise<AsyncEntry> {
  const { AsyncEntry } = await import("@napi-rs/keyring");
  return new AsyncEntry(SERVICE, name, OPTIONS);
}

/** Whether a value that is set comes back. */
async function isKeyringWorking(): Promise<boolean> {
  const value = randomUUID();
  try {
    const probe = await openEntry(`probe-${value}`);
    await probe.setPassword(value, limitTime());
    const found = await probe.getPassword(limitTime());
    await probe.deletePassword(limitTime());
    return found === value;
  } catch {
    return false;
  }
}

function limitTime(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}
