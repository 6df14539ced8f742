import { Ajv } from "ajv";
import { expect, test, vi } from "vitest";
import { shape } from "../../schema/shape.ts";

/** What adding a field comes to: one entry, in a table of this file's own that is there before anything reads it. */
vi.resetModules();
const { AGENT_FIELDS } = await import("../../schema/agent-fields.ts");
Object.assign(AGENT_FIELDS, {
  patience: {
    about: "Minutes it waits for a person.",
    kind: { is: "number", range: { min: 1, max: 60, whole: true }, default: 5 },
    isChangeable: true,
    vendorKeys: { waitMins: {} },
    form: { section: "Work", label: "Patience" },
  },
});
const { describeForm, findFormDefault, listFormSections } = await import("../../schema/form-fields.ts");
const { AGENT_FRONTMATTER_SCHEMA, documentFields } = await import("../frontmatter-schema.ts");
const { parseAgentFile } = await import("../parse-agent-file.ts");
const { writeAgentFile } = await import("../write-agent-file.ts");
vi.resetModules();

const read = (yaml: string) =>
  parseAgentFile(`---\nname: a\ndescription: b\n${yaml}\n---\nDo it.\n`, {
    file: "a.md",
    format: "native",
    scope: "project",
  });

test("a field that is added to the table is read, in every spelling, and without it there is its default", async () => {
  for (const yaml of ["patience: 9", "Patience: 9", "wait_mins: 9"])
    expect((await read(yaml)).agent).toMatchObject({ patience: 9, extra: {} });
  expect((await read("model: fast")).agent).toMatchObject({ patience: 5 });
  const { agent, problems } = await read("patience: 90");
  expect(agent).toBeUndefined();
  expect(problems).toMatchObject([{ code: "bad-value", severity: "error", line: 4 }]);
  expect(problems[0]?.message).toContain(
    "patience is 90, but must be a whole number of at least 1 and at most 60",
  );
  expect((await read("patiense: 9")).problems[0]?.message).toContain("did you mean 'patience'?");
});

test("it is written where the table has it, and its default is left out", async () => {
  const written = async (yaml: string) => {
    const { agent } = await read(yaml);
    return agent && (await writeAgentFile(agent));
  };
  expect(await written("patience: 9")).toBe("---\nname: a\ndescription: b\npatience: 9\n---\nDo it.\n");
  expect(await written("patience: 5")).toBe("---\nname: a\ndescription: b\n---\nDo it.\n");
});

test("editors check it, and the documentation has a line on it", () => {
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(AGENT_FRONTMATTER_SCHEMA);
  expect(validate({ description: "b", patience: 9 })).toBe(true);
  expect(validate({ description: "b", patience: 90 })).toBe(false);
  expect(documentFields()).toContain("\n| `patience` | Minutes it waits for a person. | 5 |");
});

test("the form has a control for it, and the API takes its value", () => {
  const fields = listFormSections().find(({ title }) => title === "Work")?.fields;
  const field = fields?.find(({ name }) => name === "patience");
  expect(field).toMatchObject({ control: { label: "Patience" }, kind: { is: "number" } });
  expect(field && findFormDefault(field)).toBe(5);
  const form = { properties: { patience: describeForm().patience } };
  expect(form).toEqual({ properties: { patience: { type: "number" } } });
  expect(shape(describeForm()).required).toContain("patience");
});
