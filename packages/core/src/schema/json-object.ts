import { tryTo } from "./error.ts";

/** Whether a parsed value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export function readObject(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The value's members if it is a list, each as an object. */
export function readObjects(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(readObject) : [];
}

/** JSON as an object, or null if it is none. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  const value: unknown = tryTo(() => JSON.parse(text));
  return isRecord(value) ? value : null;
}

/** The object that a text of JSON holds; an empty one for a text without one. */
export function readJsonObject(text: string | null | undefined): Readonly<Record<string, unknown>> {
  return parseObject(text ?? "") ?? {};
}
