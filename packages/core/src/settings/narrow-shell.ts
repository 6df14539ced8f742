import type { ShellSettings } from "../schema/settings.ts";

/** The stricter of two voices on each point: the tighter sandbox, no network unless both have it, the lower limits. */
export function narrowShell(shell: ShellSettings, by: Partial<ShellSettings>): ShellSettings {
  const isOff = shell.sandbox === "off" && (by.sandbox ?? "off") === "off";
  const lower = (key: "seconds" | "testSeconds" | "memoryMb" | "pids" | "diskMb") =>
    Math.min(shell[key], by[key] ?? shell[key]);
  return {
    sandbox: isOff ? "off" : "required",
    network: shell.network && by.network !== false,
    seconds: lower("seconds"),
    testSeconds: lower("testSeconds"),
    memoryMb: lower("memoryMb"),
    pids: lower("pids"),
    diskMb: lower("diskMb"),
    env: by.env ? shell.env.filter((name) => by.env?.includes(name)) : shell.env,
  };
}

/** The keys of a project's `shell` section that ask for more than anyone may without the user. */
export function wideningIn(shell: Readonly<Record<string, unknown>>): string[] {
  return [
    ...(shell.sandbox === "off" ? ["sandbox"] : []),
    ...(shell.network === true ? ["network"] : []),
    ...(Array.isArray(shell.env) && shell.env.length > 0 ? ["env"] : []),
  ];
}
