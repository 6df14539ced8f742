import { createRedactor } from "../../redact/create-redactor.ts";

const SECRET = /key|token|secret|password|authorization|credential|cookie/i;
const HARMLESS_HEADER = /^(?:accept(?:-\w+)?|content-type|user-agent|referer|anthropic-(?:version|beta))$/i;
const HIDDEN = "(hidden)";
/** A parameter of an address whose name says that its value is a secret. */
const IN_ADDRESS = /([?&#][^=&#\s]*(?:key|token|secret|password|auth|sig)[^=&#\s]*=)[^&#\s]+/gi;

/** Whether what stands at a way is a secret by its name; a header unless it is known to be none, and an `…Env` names a variable. */
export function isSecret(keys: readonly string[]): boolean {
  const name = keys.at(-1) ?? "";
  if (keys.length > 3 && keys.at(-2) === "headers") return !HARMLESS_HEADER.test(name);
  return SECRET.test(name) && !/env$/i.test(name) && !/^(?:tokens|firstTokenMs)$/.test(name);
}

/** A value with everything hidden that is a secret by its name or by its looks. */
export function masked(value: unknown, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, keys));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, masked(each, [...keys, key])]),
    );
  if (typeof value !== "string" || value === "") return value;
  if (isSecret(keys)) return HIDDEN;
  const address = value.replace(/(\/\/)[^/@\s]+@/, `$1${HIDDEN}@`).replace(IN_ADDRESS, `$1${HIDDEN}`);
  return createRedactor().redact(address);
}
