import { normalKey } from "../fields/field-names.ts";

/** Something strict YAML lets pass but a person should hear about. */
export type YamlNote = { kind: "duplicate" | "unsafe" | "comment"; path: string; line: number };

/** A mapping's keys as written with plain values, and the line of every key by its dotted normal path. */
export type YamlFields = {
  values: Map<string, unknown>;
  lines: Map<string, number>;
  notes: YamlNote[];
};

/** Why a text is not the YAML we accept; `refused` marks a limit, behind which nothing is rescued. */
export type YamlFault = { line: number; message: string; refused?: true };

/** Either the fields or at least one fault. */
export type YamlResult = { fields: YamlFields } | { faults: YamlFault[] };

/** The form under which a key's line is filed: `limits.tool_calls` and `limits.toolCalls` are one path. */
export function normalPath(path: string): string {
  return path.split(".").map(normalKey).join(".");
}
