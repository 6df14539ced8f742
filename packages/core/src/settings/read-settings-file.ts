import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isMissing } from "../files/file-fault.ts";
import type { Problem } from "../schema/agent.ts";
import { messageOf } from "../schema/error.ts";
import { isRecord } from "../schema/json-object.ts";
import { type JsonLines, locateJson } from "./json-source.ts";

/** A settings file as it was written; values are not checked yet. */
export type SettingsFile = { file: string; value: Readonly<Record<string, unknown>>; lines: JsonLines };

const MAX_BYTES = 1_048_576;

/** Reads one settings file. A file that is not there is no problem; anything unreadable in it is one. */
export async function readSettingsFile(
  file: string,
): Promise<SettingsFile | { problem: Problem } | undefined> {
  const fault = (line: number, message: string, fix: string): { problem: Problem } => ({
    problem: { severity: "error", file, line, code: "bad-settings-file", message, fix },
  });
  let text: string;
  try {
    text = await readBounded(file);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    return fault(0, `the settings cannot be read: ${messageOf(thrown)}`, "correct the file or remove it");
  }
  const located = locateJson(text.replace(/^\uFEFF/, ""));
  if ("fault" in located) {
    const { line, column, message } = located.fault;
    const fix = `correct line ${line}, column ${column}; settings are plain JSON, without comments or trailing commas`;
    return fault(line, `the settings are not valid JSON: line ${line}, column ${column}: ${message}`, fix);
  }
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  if (!isRecord(value)) return fault(1, "the settings must be an object", "write { … }");
  return { file, ...withRolesNamed(value, located.lines) };
}

/** `AgentRoles` under its own name, however an application's configuration spells it. */
function withRolesNamed(
  value: Record<string, unknown>,
  lines: JsonLines,
): Pick<SettingsFile, "value" | "lines"> {
  const written = Object.keys(value).find((key) => /^agent[-_]?roles$/i.test(key)) ?? ROLES;
  if (written === ROLES || Object.hasOwn(value, ROLES)) return { value, lines };
  const renamed = Object.entries(value).map(([key, each]) => [key === written ? ROLES : key, each]);
  const prefix = new RegExp(`^/${written}(?=/|$)`);
  return {
    value: Object.fromEntries(renamed),
    lines: new Map([...lines].map(([path, line]) => [path.replace(prefix, `/${ROLES}`), line])),
  };
}

const ROLES = "AgentRoles";

async function readBounded(file: string): Promise<string> {
  // Opening a pipe without this flag waits for a writer.
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const info = await handle.stat();
  if (!info.isFile()) throw new Error("it is not a regular file");
  if (info.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await handle.readFile());
}
