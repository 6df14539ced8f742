import { Option } from "commander";

const MODES = ["default", "acceptEdits", "plan", "bypassPermissions"];

/** The option that says how asks are answered without a person. */
export function permissionMode(): Option {
  return new Option("--permission-mode <mode>", "how asks are answered without a person").choices(MODES);
}
