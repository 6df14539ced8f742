import { isRecord } from "../../schema/json-object.ts";
import type { TransportReply } from "../../schema/transport.ts";
import type { CallContext } from "../model-error.ts";
import { ModelError } from "../model-error.ts";

/** What a server answered when it was asked for its models. */
export type ModelList = { status: number; models: string[] };

const MAX_LIST_BYTES = 4 * 1024 * 1024;
const NAMED = 8;

/** Adds to "unknown model" what the server has instead. Any trouble with asking leaves the error as it was. */
export async function withAvailableModels(
  error: ModelError,
  call: CallContext,
  list: () => Promise<ModelList>,
): Promise<ModelError> {
  if (error.type !== "config") return error;
  try {
    const { models } = await list();
    if (models.length === 0) return error;
    const closest = models.sort(
      (a, b) => shared(b, call.modelId) - shared(a, call.modelId) || a.localeCompare(b),
    );
    const more = models.length > NAMED ? ` and ${models.length - NAMED} more` : "";
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

/** Reads the list; an answer that is no list names no models. */
export async function readModelList(reply: TransportReply): Promise<ModelList> {
  const text = await reply.text(MAX_LIST_BYTES);
  if (reply.status !== 200) return { status: reply.status, models: [] };
  try {
    return { status: 200, models: modelNames(JSON.parse(text)) };
  } catch {
    return { status: 200, models: [] };
  }
}

/** Names of a list as any of the servers writes it; Google puts a folder in front. */
function modelNames(value: unknown): string[] {
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
