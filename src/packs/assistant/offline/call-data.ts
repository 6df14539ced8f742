import type { PastCall } from "../../../models/offline/procedure.ts";

/** A JSON object as tools answer it. */
export type Data = Readonly<Record<string, unknown>>;

/** What a call gave; undefined if it was not made, not answered, failed, or its answer cannot be read. */
export function dataOf(calls: readonly PastCall[], tool: string): Data | undefined {
  const past = calls.findLast((call) => call.tool === tool && !call.failed && call.result !== "");
  return past && objectIn(past.result);
}

/** The message of a call that failed. */
export function faultOf({ result, tool }: PastCall): string {
  const { error } = objectIn(result) ?? {};
  const { message, type } = asData(error);
  const why = typeof message === "string" ? `(${String(type)}): ${message}` : `: ${result.split("\n", 1)[0]}`;
  return `${tool} failed${typeof message === "string" ? " " : ""}${why.replace(/[.\s]*$/, ".")}`;
}

/** A value as an object; empty if it is none. */
export function asData(value: unknown): Data {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A list of objects. */
export function listIn(data: Data | undefined, name: string): Data[] {
  const value = data?.[name];
  return Array.isArray(value) ? value.map(asData) : [];
}

/** A list of texts. */
export function textsIn(data: Data | undefined, name: string): string[] {
  const value = data?.[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** A text field; empty if there is none. */
export function textIn(data: Data | undefined, name: string): string {
  const value = data?.[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function objectIn(text: string): Data | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? asData(value) : undefined;
  } catch {
    return undefined;
  }
}
