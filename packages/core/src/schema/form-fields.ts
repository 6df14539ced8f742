import {
  FIELD_TABLE,
  type FieldPart,
  FORM_SECTIONS,
  type FormControl,
  type FormSectionName,
  type ValueKind,
} from "./agent-fields.ts";
import { flag, list, number, oneOf, orNull, type Shape, shape, text } from "./shape.ts";

/** One value of the form: its name there, where a file has it, and its control. */
export type FormValue = {
  name: string;
  /** The field of the agent file, and the part of it if it is one. */
  field: string;
  part?: string;
  kind: ValueKind;
  control: FormControl;
};

/** Texts that an agent always has. */
const ALWAYS_THERE = new Set(["name", "displayName", "description"]);

/** The values that a form shows, in the order of the table. */
export function listFormFields(): FormValue[] {
  return Object.entries(FIELD_TABLE).flatMap(([field, own]) => {
    const parts = own.form || own.kind.is !== "map" ? [] : Object.entries<FieldPart>(own.kind.parts);
    return [
      ...(own.form ? [{ name: own.form.name ?? field, field, kind: own.kind, control: own.form }] : []),
      ...parts.flatMap(([part, { kind, form }]) =>
        form ? [{ name: form.name ?? part, field, part, kind, control: form }] : [],
      ),
    ];
  });
}

/** The form by its sections. */
export function listFormSections(): { title: FormSectionName; fields: FormValue[] }[] {
  const fields = listFormFields();
  return FORM_SECTIONS.map((title) => ({
    title,
    fields: fields.filter(({ control }) => control.section === title),
  }));
}

/** What a value of the form is while the file leaves it out. */
export function findFormDefault({ name, kind }: Pick<FormValue, "name" | "kind">): unknown {
  if (ALWAYS_THERE.has(name)) return "";
  if (kind.is === "map") return kind.isOptional ? null : {};
  return "default" in kind && kind.default !== undefined ? kind.default : null;
}

type PartDefaults<Parts> = {
  [Part in keyof Parts as Parts[Part] extends { kind: { default: unknown } }
    ? Part
    : never]: Parts[Part] extends { kind: { default: infer Default } } ? Default : never;
};

/** The parts of a map that have a default, with it. */
export function listPartDefaults<Parts extends Readonly<Record<string, FieldPart>>>(
  parts: Parts,
): PartDefaults<Parts> {
  const entries = Object.entries<FieldPart>(parts).flatMap(([part, { kind }]) =>
    "default" in kind ? [[part, kind.default] as const] : [],
  );
  return Object.fromEntries(entries) as PartDefaults<Parts>;
}

/** What each value of the form may be, for the API; the prompt is what stands below the fields. */
export function describeForm(): Record<string, Shape> {
  const fields = listFormFields().map((field) => {
    const value = describeValue(field.kind);
    return [field.name, findFormDefault(field) === null ? orNull(value) : value] as const;
  });
  return { ...Object.fromEntries(fields), prompt: text };
}

function describeValue(kind: ValueKind): Shape {
  switch (kind.is) {
    case "text":
      return text;
    case "names":
    case "rules":
      return list(text);
    case "number":
      return number;
    case "choice":
      return oneOf(...kind.words);
    case "flag":
      return flag;
    case "own":
      return kind.schema;
    case "map": {
      const parts = Object.entries(kind.parts).map(([part, { kind: own }]) => {
        const isThere = kind.isOptional || "default" in own;
        return [isThere ? part : `${part}?`, describeValue(own)] as const;
      });
      return shape(Object.fromEntries(parts));
    }
  }
}
