import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseAgentFile } from "../parse-agent-file.ts";
import { parseYaml } from "./parse-yaml.ts";

async function read(text: string): Promise<Record<string, unknown>> {
  const result = await parseYaml(text, 1);
  if ("faults" in result) throw new Error(result.faults.map(({ message }) => message).join("; "));
  return Object.fromEntries(result.fields.values);
}

/** A mapping in brackets with keys of a small alphabet, which may merge mappings that were named before. */
const entry = fc.oneof(
  fc.tuple(fc.constantFrom("a", "b", "c", '"*"'), fc.constantFrom("1", "x", "[y]", "{ d: 2 }")),
  fc.tuple(fc.constant("<<"), fc.constantFrom("*m0", "[*m0]", "[*m0, { b: 5, e: 6 }]", "{ c: 7, a: 8 }")),
);
const mapping = fc
  .uniqueArray(entry, { maxLength: 4, selector: ([key]) => key })
  .map((entries) => `{ ${entries.map(([key, value]) => `${key}: ${value}`).join(", ")} }`);

test("merge keys are read as YAML 1.1 reads them, in the same order, at the top and in nested mappings", async () => {
  const property = fc.asyncProperty(fc.array(mapping, { minLength: 1, maxLength: 3 }), async (mappings) => {
    const named = mappings.map(
      (text, index) => `k${index}: &m${index} ${text.replaceAll("*m0", `*m${index - 1}`)}`,
    );
    const text = ["k: &m-1 { a: 0, f: 9 }", ...named, `<<: *m${mappings.length - 1}`, "b: own", ""].join(
      "\n",
    );
    expect(JSON.stringify(await read(text))).toBe(JSON.stringify(parse(text, { merge: true })));
  });
  await fc.assert(property, { numRuns: process.env.RETINUE_DEEP ? 20_000 : 500 });
});

test("an own entry wins wherever it is, the first merged one over later ones, and a quoted << is a key", async () => {
  const bases = "x: &x { a: 1, b: 1 }\ny: &y { b: 2, c: 2 }\n";
  expect(await read(`${bases}a: own\n<<: [*x, *y]\nc: own`)).toMatchObject({ a: "own", b: 1, c: "own" });
  expect(await read(`${bases}<<: *y\n<<: *x`)).toMatchObject({ a: 1, b: 2, c: 2 });
  expect(await read(`${bases}"<<": *x`)).toEqual({
    x: expect.anything(),
    y: expect.anything(),
    "<<": { a: 1, b: 1 },
  });
});

test("a file of thousands of aliases and merges is read", async () => {
  const lines = Array.from({ length: 4_000 }, (_, index) => `k${index}: {<<: *a}`);
  expect(await read(`a: &a { b: 1 }\n${lines.join("\n")}`)).toMatchObject({ k3999: { b: 1 } });
});

const laughs = (merge: (level: number) => string) => [
  "a0: &a0 { k0: 1, l0: 2 }",
  ...Array.from({ length: 25 }, (_, level) => `a${level + 1}: &a${level + 1} ${merge(level)}`),
];

test.each([
  ["a mapping that merges itself", "a: &a { <<: *a, tools: Read }"],
  ["two that merge each other", "a: &a { b: &b { <<: *a } , <<: *b }"],
  ["a text", "a: &a hello\n<<: *a"],
  ["nothing", "<<:"],
  ["a list with a text", "a: &a { b: 1 }\n<<: [*a, b]"],
  ["a list of lists", "a: &a [{ b: 1 }]\n<<: [*a]"],
  ["an anchor that is not there", "<<: *nowhere"],
  ["ever more of the same, twice each", laughs((level) => `{ <<: [*a${level}, *a${level}] }`).join("\n")],
  [
    "ever more, nested",
    laughs((level) => `{ k${level + 1}: { <<: *a${level} }, <<: *a${level} }`).join("\n"),
  ],
])("a file that merges %s cannot be used", async (_, yaml) => {
  const text = `---\nname: x\ndescription: d\n${yaml}\n---\nText.\n`;
  for (const format of ["claude", "opencode", "native"] as const) {
    const { agent, problems } = await parseAgentFile(text, { file: "/x.md", format, scope: "project" });
    expect(agent).toBeUndefined();
    expect(problems.map(({ severity }) => severity)).toContain("error");
  }
});

const inFormat = async (format: "claude" | "opencode", yaml: string) =>
  (
    await parseAgentFile(`---\ndescription: d\n${yaml}\n---\nText.\n`, {
      file: "/x.md",
      format,
      scope: "project",
    })
  ).agent;

test("rights that are merged hold as if they were written out", async () => {
  const cases = [
    ["claude", 'base: &b {tools: "Read, Grep"}\n<<: *b', 'tools: "Read, Grep"'],
    ["claude", "base: &b {disallowedTools: [Bash]}\n<<: [*b]", "disallowedTools: [Bash]"],
    [
      "opencode",
      'x-base: &p {permission: {"*": deny, read: allow}}\n<<: *p',
      'permission: {"*": deny, read: allow}',
    ],
    [
      "opencode",
      'x-base: &p {"*": deny, read: allow}\npermission:\n  <<: *p\n  grep: allow',
      'permission: {"*": deny, read: allow, grep: allow}',
    ],
    [
      "opencode",
      'x-base: &p {"*": deny, "git log*": allow}\npermission: {bash: {<<: *p}, "*": deny}',
      'permission: {bash: {"*": deny, "git log*": allow}, "*": deny}',
    ],
  ] as const;
  for (const [format, merged, plain] of cases) {
    const [one, other] = [await inFormat(format, merged), await inFormat(format, plain)];
    const { extra: _, ...rights } = one ?? { extra: null };
    const { extra: __, ...expected } = other ?? { extra: null };
    expect(other).toBeDefined();
    expect(rights).toEqual(expected);
  }
});

test("a broken file is not repaired around what its fields stand for in others", async () => {
  const broken = "description: Use: this";
  for (const yaml of [
    `base: &b {tools: "Read, Grep"}\n${broken}\n<<: *b`,
    `base: &b [Bash, Write]\n${broken}\ndisallowedTools: *b`,
    `base: &b [Bash, Write]\n${broken}\ntools: *b`,
  ]) {
    const text = `---\nname: x\n${yaml}\n---\nText.\n`;
    const { agent } = await parseAgentFile(text, { file: "/x.md", format: "claude", scope: "project" });
    expect(agent).toBeUndefined();
  }
});
