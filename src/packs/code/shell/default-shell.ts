import type { ShellSettings } from "../../../schema/settings.ts";

/** How commands run when nobody says otherwise. */
export const DEFAULT_SHELL: ShellSettings = Object.freeze({
  sandbox: "auto",
  network: false,
  seconds: 120,
  memoryMb: 2_048,
  pids: 256,
  diskMb: 4_096,
  env: [],
});
