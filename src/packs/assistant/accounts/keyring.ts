import { randomUUID } from "node:crypto";
import { RetinueError } from "../../../schema/error.ts";
import { parseSecrets, type SecretPlaces, type SecretStore } from "./secret-store.ts";

const SERVICE = "retinue";
/** A locked keyring may ask the person for a word; a broken one never answers. */
const PATIENCE_MS = 30_000;
/** The kernel's keyring would forget everything at the next start, so on Linux only a Secret Service will do. */
const OPTIONS = { linux: { store: "secret-service" } } as const;

let probed: Promise<boolean> | undefined;

/** The system's keyring; null where there is none that works, or where `RETINUE_KEYRING=off`. */
export async function openKeyring({ env, configDir }: SecretPlaces): Promise<SecretStore | null> {
  if (/^(?:off|0|no|false)$/i.test(env.RETINUE_KEYRING ?? "")) return null;
  probed ??= works();
  if (!(await probed)) return null;
  const nameOf = (id: string) => `${configDir}#${id}`;
  return {
    where: "keyring",
    async read(id) {
      const text = await tell(id, "read", async () => (await entry(nameOf(id))).getPassword(patience()));
      return text === null ? null : parseSecrets(text, id);
    },
    write: (id, secrets) =>
      tell(id, "written", async () =>
        (await entry(nameOf(id))).setPassword(JSON.stringify(secrets), patience()),
      ),
    remove: (id) =>
      tell(id, "deleted", async () => void (await (await entry(nameOf(id))).deletePassword(patience()))),
  };
}

async function entry(name: string) {
  const { AsyncEntry } = await import("@napi-rs/keyring");
  return new AsyncEntry(SERVICE, name, OPTIONS);
}

/** Whether a value that is set comes back. */
async function works(): Promise<boolean> {
  const value = randomUUID();
  try {
    const probe = await entry(`probe-${value}`);
    await probe.setPassword(value, patience());
    const found = await probe.getPassword(patience());
    await probe.deletePassword(patience());
    return found === value;
  } catch {
    return false;
  }
}

function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE_MS);
}

async function tell<Value>(id: string, what: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch {
    // The keyring's own words are left out: they might repeat what was to be kept.
    throw new RetinueError(
      "auth",
      `the secrets of account '${id}' cannot be ${what} in the system's keyring`,
      "unlock the keyring; with RETINUE_KEYRING=off new accounts use files instead",
    );
  }
}
