import type { TransportReply } from "../../schema/transport.ts";
import type { CallContext } from "../model-error.ts";
import { ModelError } from "../model-error.ts";
import { isRecord } from "./json.ts";

const MAX_LIST_BYTES = 1024 * 1024;
const NAMED = 8;

/** Adds to "unknown model" what the server has instead. Any trouble with asking leaves the error as it was. */
export async function withAvailableModels(
  error: ModelError,
  call: CallContext,
  list: () => Promise<TransportReply>,
): Promise<ModelError> {
  if (error.type !== "config") return error;
  try {
    const reply = await list();
    const names = modelNames(JSON.parse(await reply.text(MAX_LIST_BYTES)));
    if (reply.status !== 200 || names.length === 0) return error;
    const closest = names.sort(
      (a, b) => shared(b, call.modelId) - shared(a, call.modelId) || a.localeCompare(b),
    );
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
    return new ModelError({
      type: error.type,
      message: `${error.message}; available: ${closest.slice(0, NAMED).join(", ")}${more}`,
      hint: error.hint,
      ...(error.status !== undefined && { status: error.status }),
    });
  } catch {
    return error;
  }
}

/** Names of a list as any of the servers writes it; Google puts a folder in front. */
export function modelNames(value: unknown): string[] {
  const list = isRecord(value) ? (value.data ?? value.models) : value;
  if (!Array.isArray(list)) return [];
  const names = list.map((entry) => (isRecord(entry) ? (entry.id ?? entry.name) : entry));
  return names
    .filter((name) => typeof name === "string")
    .map((name) => name.replace(/^models\//, "").slice(0, 100));
}

/** How many leading characters two names share. */
function shared(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
