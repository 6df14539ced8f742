import type { JsonSchema } from "../../schema/json-schema.ts";

/** A whole number in a query. */
export const digits: JsonSchema = { type: "string", pattern: "^[0-9]{1,15}$" };

/** The number in a query, within its bounds. */
export function numberOf(
  text: string | undefined,
  { otherwise, least, most }: { otherwise: number; least: number; most: number },
): number {
  return text === undefined ? otherwise : Math.min(most, Math.max(least, Number(text)));
}
