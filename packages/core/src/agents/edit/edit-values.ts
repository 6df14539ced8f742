import { isSeq } from "yaml";
import type { AgentFormat, Limits } from "../../schema/agent.ts";
import { FIELD_TABLE, type VendorKey } from "../../schema/agent-fields.ts";
import type { AgentForm } from "../../schema/api/agent.ts";
import type { FormValue } from "../../schema/form-fields.ts";
import { findKey, normalKey } from "../fields/field-names.ts";
import { type Resolved, resolveRule } from "../fields/resolve-rule.ts";
import { makeSlug } from "../fields/slug.ts";
import type { WrittenFields } from "../fields/sort-keys.ts";
import type { KnownTools } from "../fields/tool-names.ts";
import { cannotSay, type FrontmatterEdit } from "./frontmatter-edit.ts";

/** A frontmatter that is being edited, and what it said before. */
export type Draft = {
  readonly edit: FrontmatterEdit;
  readonly format: AgentFormat;
  readonly known: KnownTools;
  readonly written: WrittenFields;
};

/** One way to write a field; the first that turns out to say exactly what was wanted is taken. */
export type Attempt = (draft: Draft) => void;

/** Keys that another program reads, where any other key would harm it there. */
const ONLY_KEYS: Partial<Record<AgentFormat, { keys: ReadonlySet<string>; harm: string }>> = {
  gemini: {
    keys: new Set(
      "kind name description displayname tools model temperature maxturns timeoutmins mcpservers".split(" "),
    ),
    harm: "Gemini CLI refuses a file with a key that it does not know",
  },
  opencode: {
    keys: new Set(
      "name description mode model prompt tools disable permission temperature topp steps maxsteps color hidden options".split(
        " ",
      ),
    ),
    harm: "opencode would hand a key that it does not know on to its model",
  },
};

/** What an entry of a list of tools means in the file. */
export function resolveEntry(entry: string, { format, known }: Draft): Resolved {
  return resolveRule(entry, format, known);
}

/** The key of a field as the file writes it; undefined if it does not. */
export function findWritten({ edit }: Draft, field: string): string | undefined {
  return edit.keys().find((key) => findKey(key)?.key === field);
}

/** The path of a field, or of a part of it, as the file writes it; undefined if it does not. */
export function findPath(draft: Draft, field: string, part?: string): string[] | undefined {
  const key = findWritten(draft, field);
  if (key === undefined || part === undefined) return key === undefined ? undefined : [key];
  const { kind } = FIELD_TABLE[field] ?? {};
  const spelling = (kind?.is === "map" && kind.parts[part]?.spelling) || part;
  const inner = draft.edit
    .keys([key])
    .find((each) => [part, spelling].some((one) => normalKey(one) === normalKey(each)));
  return inner === undefined ? undefined : [key, inner];
}

/** Sets a field, or a part of it, under the key that is there or a new one spelled as its neighbours. */
export function put(draft: Draft, field: string, value: unknown, part?: string): void {
  const key = findWritten(draft, field) ?? nameNewKey(draft, field);
  const around = [...draft.edit.keys([key]), ...draft.edit.keys().filter((each) => findKey(each))];
  const inner = part && (findPath(draft, field, part)?.[1] ?? spell(part, around, draft));
  draft.edit.set(inner === undefined ? [key] : [key, inner], value);
}

/** Takes a field, or a part of it, out. */
export function drop(draft: Draft, field: string, part?: string): void {
  const path = findPath(draft, field, part);
  if (path) draft.edit.remove(path);
}

/** A key that the file does not have yet; refused where it would break the file for the program it belongs to. */
export function nameNewKey(draft: Draft, field: string): string {
  const keys = draft.edit.keys();
  const only = ONLY_KEYS[draft.format];
  const isForeign = (key: string): boolean => only !== undefined && !only.keys.has(normalKey(key));
  const isOwn = (key: string): boolean => findKey(key)?.isOwn === true;
  if (only && isForeign(field) && !keys.some((key) => isForeign(key) && isOwn(key)))
    throw cannotSay(field, only.harm);
  return spell(
    field,
    keys.filter((key) => findKey(key)),
    draft,
  );
}

/** A name in the spelling of the keys around it that Retinue reads. */
function spell(name: string, siblings: readonly string[], { format }: Draft): string {
  const mark =
    ["_", "-"].find((each) => siblings.some((key) => key.includes(each))) ??
    (format === "gemini" ? "_" : null);
  return mark === null ? name : name.replaceAll(/[A-Z]/g, (letter) => `${mark}${letter.toLowerCase()}`);
}

/** Writes a value that is no list of rights and no policy; null takes it out. */
export function writeFormValue(
  draft: Draft,
  value: FormValue,
  { desired, form }: { desired: unknown; form: AgentForm | null },
): void {
  const { name } = value;
  if (name === "name") writeName(draft, desired, form);
  else if (name === "displayName") writeDisplayName(draft, desired);
  else if (name === "model") writeModel(draft, desired);
  else if (name === "aliases") writeAliases(draft, Array.isArray(desired) ? desired : []);
  else if (name === "limits") writeLimits(draft, desired ?? {}, form?.limits ?? {});
  else writeValue(draft, value, desired);
}

type Place = Pick<FormValue, "field" | "part">;

/** Writes a value where the file has it, else where its program would look for it. */
function writeValue(draft: Draft, { field, part }: Place, value: unknown): void {
  const entry = FIELD_TABLE[field];
  const vendors = Object.entries(entry?.vendorKeys ?? {}).filter(([, each]) => each.part === part);
  const written = vendors.filter(([key]) => findWritten(draft, key) !== undefined);
  const isOwn = findPath(draft, field, part) !== undefined;
  if (value === null) {
    drop(draft, field, part);
    for (const [key] of written) drop(draft, key);
    return;
  }
  const isFlag = entry?.kind.is === "flag";
  if (isOwn) put(draft, field, value, part);
  // Of several keys for one switch the careful one counts, so all of them must say the same.
  const others = isOwn && !isFlag ? [] : isFlag ? written : written.slice(0, 1);
  for (const [key, vendor] of others) {
    const theirs = translate(vendor, value);
    if (theirs === undefined) drop(draft, key);
    else put(draft, key, theirs);
  }
  const isUsual = entry && "default" in entry.kind && entry.kind.default === value;
  if (isOwn || others.length > 0 || isUsual) return;
  const hasMap = part !== undefined && findWritten(draft, field) !== undefined;
  const [usual, vendor] = vendors.find(([, each]) => each.addedIn?.includes(draft.format)) ?? [];
  const theirs = vendor && !hasMap ? translate(vendor, value) : undefined;
  if (usual !== undefined && theirs !== undefined) put(draft, usual, theirs);
  else put(draft, field, value, part);
}

/** What another program's key says for a value of ours; undefined if it cannot say it. */
function translate({ values }: VendorKey, value: unknown): unknown {
  return values ? values.find(([, ours]) => ours === value)?.[0] : value;
}

function writeLimits(draft: Draft, desired: Limits, current: Limits): void {
  const wanted = new Map(Object.entries(desired));
  const before = new Map(Object.entries(current));
  for (const part of new Set([...before.keys(), ...wanted.keys()])) {
    if (part === "perTool" || wanted.get(part) === before.get(part)) continue;
    writeValue(draft, { field: "limits", part }, wanted.get(part) ?? null);
  }
  const { perTool = {} } = desired;
  for (const tool of new Set([...Object.keys(current.perTool ?? {}), ...Object.keys(perTool)])) {
    if (perTool[tool] === current.perTool?.[tool]) continue;
    const path = findPath(draft, "limits", "perTool");
    if (perTool[tool] === undefined) draft.edit.remove([...(path ?? []), tool]);
    else if (path) draft.edit.set([...path, tool], perTool[tool]);
    else put(draft, "limits", { [tool]: perTool[tool] }, "perTool");
  }
}

/** A name that people read as more than its slug stays; the slug then goes to `id`. */
function writeName(draft: Draft, name: unknown, form: AgentForm | null): void {
  if (name === null) {
    drop(draft, "id");
    drop(draft, "name");
    return;
  }
  const slug = makeSlug(String(name)) ?? name;
  const isShown = form !== null && form.displayName !== form.name && findShown(draft) === undefined;
  const isLabel = isShown && findWritten(draft, "name") !== undefined;
  put(draft, findWritten(draft, "id") !== undefined || isLabel ? "id" : "name", slug);
}

function findShown(draft: Draft): "display" | "displayName" | undefined {
  if (findPath(draft, "display", "name") !== undefined) return "display";
  return findWritten(draft, "displayName") === undefined ? undefined : "displayName";
}

function writeDisplayName(draft: Draft, name: unknown): void {
  if (name === null) {
    drop(draft, "displayName");
    drop(draft, "display", "name");
    return;
  }
  const there = findShown(draft);
  const isSaidByName =
    there === undefined && findWritten(draft, "id") !== undefined && findWritten(draft, "name") !== undefined;
  const isInDisplay = there === "display" || (there === undefined && draft.format === "native");
  if (isSaidByName) put(draft, "name", name);
  else if (isInDisplay) put(draft, "display", name, "name");
  else put(draft, "displayName", name);
}

/** Of a list of models the first counts; the others stay for the program that uses them. */
function writeModel(draft: Draft, model: unknown): void {
  const key = findWritten(draft, "model");
  const isLeftOut = model === "inherit" && (draft.format === "opencode" || draft.format === "copilot");
  if (model === null || isLeftOut) drop(draft, "model");
  else if (key === undefined || !isSeq(draft.edit.get([key]))) put(draft, "model", model);
  else draft.edit.changeList([key], { replace: new Map([[0, String(model)]]) });
}

function writeAliases(draft: Draft, desired: readonly unknown[]): void {
  const names = [...new Set(desired.flatMap((name) => makeSlug(String(name)) ?? []))];
  const key = findWritten(draft, "aliases");
  const written = key === undefined ? null : draft.edit.list([key]);
  if (names.length === 0) drop(draft, "aliases");
  else if (key === undefined || written === null) put(draft, "aliases", names);
  else draft.edit.changeList([key], findListChange(written, names, makeSlug));
}

/** How a list becomes one of these names: entries that are meant stay as they are written. */
export function findListChange(
  written: readonly string[],
  wanted: readonly string[],
  read: (entry: string) => string | undefined,
): { remove: Set<number>; add: string[] } {
  const names = written.map(read);
  return {
    remove: new Set(
      names.flatMap((name, index) => (name !== undefined && wanted.includes(name) ? [] : [index])),
    ),
    add: wanted.filter((name) => !names.includes(name)),
  };
}
