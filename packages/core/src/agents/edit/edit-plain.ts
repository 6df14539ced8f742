import { isCollection, isScalar, isSeq } from "yaml";
import type { AgentForm } from "../../schema/api/agent.ts";
import { slugOf } from "../fields/slug.ts";
import { listSource, scalarSource } from "../yaml/scalar-source.ts";
import { type Attempt, type Draft, setField, writtenInner, writtenKey } from "./draft.ts";
import { changeEntries, readEntries } from "./list-source.ts";
import { nodeAt, removeYamlEntry } from "./yaml-source.ts";

/** A field of one value. */
export type PlainField =
  | "name"
  | "displayName"
  | "description"
  | "model"
  | "aliases"
  | "context"
  | "temperature"
  | "maxOutputTokens"
  | "workspace"
  | "flow"
  | "icon"
  | "color"
  | "enabled";

/** Ways to write a field that is one value or a list of names; null takes it out. */
export function plainAttempts<Field extends PlainField>(
  field: Field,
  desired: AgentForm[Field] | null,
  form: AgentForm | null,
): Attempt[] {
  const text = desired === null ? null : String(desired);
  switch (field) {
    case "name":
      return [(draft) => writeName(draft, text, form)];
    case "displayName":
      return [(draft) => writeDisplayName(draft, text)];
    case "model":
      return [(draft) => writeModel(draft, text)];
    case "aliases":
      return [(draft) => writeAliases(draft, Array.isArray(desired) ? desired : [])];
    case "icon":
    case "color":
      return [(draft) => writeLook(draft, field, text)];
    case "enabled":
      return [(draft) => writeEnabled(draft, text)];
    case "workspace":
      return [(draft) => writeWorkspace(draft, text)];
    case "temperature":
    case "maxOutputTokens":
      return [(draft) => (text === null ? withoutField(draft, field) : setField(draft, field, text))];
    default:
      return [(draft) => (text === null ? withoutField(draft, field) : setText(draft, field, text))];
  }
}

/** Writes a text in the quotes or block that it has now. */
export function setText(draft: Draft, field: string, text: string, inner?: string): string {
  const root = nodeAt(draft.yaml, []);
  const key = writtenKey(draft, field);
  const name = key === undefined || inner === undefined ? inner : writtenInner(draft, key, inner);
  const old = key === undefined ? undefined : nodeAt(draft.yaml, name === undefined ? [key] : [key, name]);
  const type = isScalar(old) && !(inner !== undefined && name === undefined) ? old.type : undefined;
  return setField(
    draft,
    field,
    scalarSource(text, { type, isInFlow: inner !== undefined || isFlow(root) }),
    inner,
  );
}

function isFlow(node: unknown): boolean {
  return isCollection(node) && node.flow === true;
}

/** Takes fields out, whatever their keys. */
export function withoutField(draft: Draft, ...fields: readonly string[]): string {
  return fields.reduce((yaml, field) => {
    const key = writtenKey({ yaml }, field);
    return key === undefined ? yaml : removeYamlEntry(yaml, [key]);
  }, draft.yaml);
}

function withoutInner(draft: Draft, field: string, inner: string): string {
  const key = writtenKey(draft, field);
  const name = key === undefined ? undefined : writtenInner(draft, key, inner);
  return key === undefined || name === undefined ? draft.yaml : removeYamlEntry(draft.yaml, [key, name]);
}

/** A name that people read as more than its slug stays; the slug then goes to `id`. */
function writeName(draft: Draft, text: string | null, form: AgentForm | null): string {
  if (text === null) return withoutField(draft, "id", "name");
  const slug = slugOf(text) ?? text;
  const isShown = form !== null && form.displayName !== form.name && displayKey(draft) === undefined;
  const isLabel = isShown && writtenKey(draft, "name") !== undefined;
  return setText(draft, writtenKey(draft, "id") !== undefined || isLabel ? "id" : "name", slug);
}

function displayKey(draft: Draft): "display" | "displayName" | undefined {
  const display = writtenKey(draft, "display");
  if (display !== undefined && writtenInner(draft, display, "name") !== undefined) return "display";
  return writtenKey(draft, "displayName") === undefined ? undefined : "displayName";
}

function writeDisplayName(draft: Draft, text: string | null): string {
  if (text === null)
    return withoutInner({ ...draft, yaml: withoutField(draft, "displayName") }, "display", "name");
  const there = displayKey(draft);
  if (there === "displayName") return setText(draft, "displayName", text);
  const isSaidByName =
    there === undefined && writtenKey(draft, "id") !== undefined && writtenKey(draft, "name") !== undefined;
  if (isSaidByName) return setText(draft, "name", text);
  if (there === "display" || draft.format === "native") return setText(draft, "display", text, "name");
  return setText(draft, "displayName", text);
}

/** Of a list of models the first counts; the others stay for the program that uses them. */
function writeModel(draft: Draft, text: string | null): string {
  const key = writtenKey(draft, "model");
  const isLeftOut = text === "inherit" && (draft.format === "opencode" || draft.format === "copilot");
  if (text === null || isLeftOut) return withoutField(draft, "model");
  if (key !== undefined && isSeq(nodeAt(draft.yaml, [key])))
    return changeEntries(draft.yaml, [key], { remove: new Set(), replace: new Map([[0, text]]), add: [] });
  return setText(draft, "model", text);
}

function writeAliases(draft: Draft, desired: readonly string[]): string {
  const names = [...new Set(desired.flatMap((name) => slugOf(name) ?? []))];
  const key = writtenKey(draft, "aliases");
  if (names.length === 0) return withoutField(draft, "aliases");
  const written = key === undefined ? null : readEntries(draft.yaml, [key]);
  if (key === undefined || written === null) return setField(draft, "aliases", listSource(names));
  const slugs = written.map(slugOf);
  return changeEntries(draft.yaml, [key], {
    remove: new Set(
      slugs.flatMap((slug, index) => (slug !== undefined && names.includes(slug) ? [] : [index])),
    ),
    add: names.filter((name) => !slugs.includes(name)),
  });
}

function writeLook(draft: Draft, field: "icon" | "color", text: string | null): string {
  const display = writtenKey(draft, "display");
  const spellings = field === "color" ? ["color", "colour"] : ["icon"];
  const inner = spellings.find(
    (name) => display !== undefined && writtenInner(draft, display, name) !== undefined,
  );
  if (text === null) {
    const yaml = inner === undefined ? draft.yaml : withoutInner(draft, "display", inner);
    return withoutField({ ...draft, yaml }, field);
  }
  if (inner !== undefined) return setText(draft, "display", text, inner);
  const isOnTop = writtenKey(draft, field) !== undefined || draft.format !== "native";
  return isOnTop && display === undefined
    ? setText(draft, field, text)
    : setText(draft, "display", text, field);
}

function writeEnabled(draft: Draft, text: string | null): string {
  if (text === null) return withoutField(draft, "enabled", "disable", "disabled");
  const isOn = text === "true";
  let { yaml } = draft;
  const there = ["enabled", "disable", "disabled"].filter((field) => writtenKey(draft, field) !== undefined);
  for (const field of there)
    yaml = setField({ ...draft, yaml }, field, String(field === "enabled" ? isOn : !isOn));
  if (there.length > 0 || isOn) return yaml;
  return draft.format === "opencode"
    ? setField(draft, "disable", "true")
    : setField(draft, "enabled", "false");
}

function writeWorkspace(draft: Draft, text: string | null): string {
  if (text === null) return withoutField(draft, "workspace", "isolation");
  if (writtenKey(draft, "workspace") !== undefined) return setText(draft, "workspace", text);
  if (text === "shared") return withoutField(draft, "isolation");
  return draft.format === "claude"
    ? setField(draft, "isolation", "worktree")
    : setText(draft, "workspace", text);
}
