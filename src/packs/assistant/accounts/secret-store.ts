import { rm } from "node:fs/promises";
import { join } from "node:path";
import { RetinueError } from "../../../schema/error.ts";
import type { HostPlaces } from "../../../tools/tool.ts";
import type { Account, Secrets } from "./account.ts";
import { openKeyring } from "./keyring.ts";
import { closeFolder, readPrivate, writePrivate } from "./private-file.ts";

/** Where secrets are kept, by the id of the account. */
export type SecretStore = {
  readonly where: Account["tokens"];
  read(id: string): Promise<Secrets | null>;
  write(id: string, secrets: Secrets): Promise<void>;
  remove(id: string): Promise<void>;
};

/** The places that a store of secrets depends on. */
export type SecretPlaces = Pick<HostPlaces, "env" | "dataDir" | "configDir">;

/** The system's keyring if it works here, else files that only the user can read. */
export async function chooseSecretStore(places: SecretPlaces): Promise<SecretStore> {
  return (await openKeyring(places)) ?? fileStore(places);
}

/** The store that an account's secrets are in. */
export async function secretStoreOf(
  { id, tokens }: Pick<Account, "id" | "tokens">,
  places: SecretPlaces,
): Promise<SecretStore> {
  if (tokens === "file") return fileStore(places);
  const keyring = await openKeyring(places);
  if (keyring) return keyring;
  throw new RetinueError(
    "auth",
    `the secrets of account '${id}' are in the system's keyring, which cannot be reached here`,
    "unlock the keyring, or add the account again to keep its secrets in a file",
  );
}

/** One file for each account, in a folder of its own. */
export function fileStore({ dataDir }: Pick<SecretPlaces, "dataDir">): SecretStore {
  const folder = join(dataDir, "secrets");
  const fileOf = (id: string) => join(folder, `${id}.json`);
  return {
    where: "file",
    async read(id) {
      if ((await closeFolder(folder)) === null) return null;
      const text = await readPrivate(fileOf(id), "read");
      return text === null ? null : parseSecrets(text, id);
    },
    async write(id, secrets) {
      await closeFolder(folder);
      await writePrivate(fileOf(id), JSON.stringify(secrets));
    },
    remove: (id) => rm(fileOf(id), { force: true }),
  };
}

/** Secrets from their text, whose content no error repeats. */
export function parseSecrets(text: string, id: string): Secrets {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const texts = Object.entries(value).filter((entry): entry is [string, string] => {
        return typeof entry[1] === "string";
      });
      return Object.fromEntries(texts);
    }
  } catch {
    // The parser's own words would quote the text.
  }
  throw new RetinueError("auth", `the secrets of account '${id}' are damaged`, "add the account again");
}
