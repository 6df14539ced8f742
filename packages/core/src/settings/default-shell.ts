import type { ShellSettings } from "../schema/settings.ts";

/** How commands run when nobody says otherwise. */
export const DEFAULT_SHELL: ShellSettings = Object.freeze({
  sandbox: "required",
  network: false,
  seconds: 120,
  testSeconds: 600,
  memoryMb: 2_048,
  pids: 1_024,
  diskMb: 4_096,
  env: [],
});
