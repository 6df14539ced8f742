import type { Attack } from "./attack.ts";
import { B_CASES } from "./b-budgets.ts";
import { C_CASES } from "./c-cancellation.ts";
import { ARCHIVE_CASES } from "./f-archives.ts";
import { F_CASES } from "./f-files.ts";
import { GIT_CASES } from "./f-git.ts";
import { WRITER_CASES } from "./f-writers.ts";
import { I_CASES } from "./i-injection.ts";
import { OUTFLOW_CASES } from "./i-outflow.ts";
import { M_CASES } from "./m-model-faults.ts";
import { WIRE_CASES } from "./m-wire-faults.ts";
import { N_CASES } from "./n-network.ts";
import { P_CASES } from "./p-delegation.ts";
import { SPAWN_CASES } from "./p-spawning.ts";
import { RECORD_CASES } from "./r-recording.ts";
import { SECRET_CASES } from "./r-secrets.ts";
import { SHELL_LIMIT_CASES } from "./s-limits.ts";
import { SHELL_CASES } from "./s-shell.ts";

/** All attacks, by what they are aimed at. */
export const FAMILIES: Readonly<Record<string, readonly Attack[]>> = {
  delegation: P_CASES,
  spawning: SPAWN_CASES,
  budgets: B_CASES,
  files: F_CASES,
  archives: ARCHIVE_CASES,
  writers: WRITER_CASES,
  git: GIT_CASES,
  "the model": M_CASES,
  "the wire": WIRE_CASES,
  "the network": N_CASES,
  "the reader": I_CASES,
  "what may leave": OUTFLOW_CASES,
  "the stop": C_CASES,
  "the shell": SHELL_CASES,
  "the shell's limits": SHELL_LIMIT_CASES,
  secrets: SECRET_CASES,
  "the record": RECORD_CASES,
};
