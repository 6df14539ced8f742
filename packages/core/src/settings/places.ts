import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../models/providers.ts";

/** The folders that Retinue uses on this machine. */
export type Places = {
  homeDir: string;
  /** `$XDG_CONFIG_HOME`: where other programs keep their agents, too. */
  configHome: string;
  /** Settings and agents of the user. */
  configDir: string;
  /** The database and one folder per session. */
  dataDir: string;
};

/** Finds them by the XDG rules, by which an empty or relative value counts as none; RETINUE_HOME moves the data. */
export function findPlaces(env: Environment): Places {
  const homeDir = env.HOME || homedir();
  const configHome = absolute(env.XDG_CONFIG_HOME) ?? join(homeDir, ".config");
  const dataHome = absolute(env.XDG_DATA_HOME) ?? join(homeDir, ".local", "share");
  return {
    homeDir,
    configHome,
    configDir: join(configHome, "retinue"),
    dataDir: env.RETINUE_HOME ? resolve(env.RETINUE_HOME) : join(dataHome, "retinue"),
  };
}

function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}
