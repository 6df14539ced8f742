import { join } from "node:path";
import { DEFAULT_SETTINGS } from "@retinue/core/settings/default-settings";
import type { ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { resolveImport } from "./import-graph.ts";
import { findCompanions, planFilesTool } from "./plan-files.ts";

let place: ToolPlace;
beforeEach(() => {
  place = toolPlace();
  place.write(
    "src/cart/discount.ts",
    "/** Discounts. */\nexport function applyDiscount(price: number) { return price; }\n",
  );
  place.write(
    "src/cart/discount.test.ts",
    'import { applyDiscount } from "./discount.ts";\napplyDiscount(1);\n',
  );
  place.write(
    "src/cart/checkout.ts",
    'import { applyDiscount } from "./discount.ts";\nexport const checkout = () => applyDiscount(3);\n',
  );
  place.write("src/mail/send.ts", "export function send() {}\n");
  place.write("src/mail/letter.ts", "export const letter = 1;\n");
  place.write("docs/prices.md", "A discount is a lower price.\n");
});
afterEach(() => place.remove());

async function plan(input: object, more?: Partial<ToolContext>): Promise<string[]> {
  const { text, isError } = await place.use(planFilesTool, input, more);
  return (isError ? `error: ${text}` : text).split("\n");
}

const findLine = (lines: readonly string[], path: string) =>
  lines.find((line) => line.startsWith(`${path}  `)) ?? "";

describe("files of a task", () => {
  test("come with reasons: names, definitions, lines, tests and importers", async () => {
    const lines = await plan({ task: "Add a maximum to the discount" });
    expect(lines[0]).toMatch(
      /^src\/cart\/discount\.ts {2}its name has discount; defines applyDiscount \(line 2\); lines with /,
    );
    expect(findLine(lines, "src/cart/discount.test.ts")).toMatch(
      /test; .*the test of src\/cart\/discount\.ts by its name; imports src\/cart\/discount\.ts/,
    );
    expect(findLine(lines, "src/cart/checkout.ts")).toContain("imports src/cart/discount.ts");
    expect(findLine(lines, "docs/prices.md")).toContain("lines with discount");
    expect(lines.join("\n")).not.toContain("src/mail");
    expect(lines).toContain(
      "(without the history: the project's folder is not a git repository (it has no .git of its own))",
    );
  });

  test("that the task names come first, and those that are not there are said to be new", async () => {
    const lines = await plan({ task: "Move the discount rule of src/mail/send.ts to src/mail/rules.ts" });
    expect(lines[0]).toMatch(/^src\/mail\/send\.ts {2}named in the task/);
    expect(lines).toContain("src/mail/rules.ts  named in the task, and not there yet");
  });

  test("that often changed together are named from the history", async () => {
    place.git("init", "-q");
    for (const round of ["1", "2", "3"]) {
      place.write("src/cart/discount.ts", `export function applyDiscount() { return ${round}; }\n`);
      place.write("src/mail/letter.ts", `export const letter = ${round};\n`);
      place.git("add", "-A");
      place.git("commit", "-q", "-m", `round ${round}`);
    }
    const lines = await plan({ task: "change the discount" });
    expect(findLine(lines, "src/mail/letter.ts")).toBe(
      "src/mail/letter.ts  changed with src/cart/discount.ts in 3 of 3 commits",
    );
    expect(lines.join("\n")).not.toContain("without the history");
    const maySee: ToolContext["maySee"] = (file) =>
      file.kind === "path" && !file.relative.startsWith("src/mail");
    expect((await plan({ task: "change the discount" }, { maySee })).join("\n")).not.toContain("letter");
  });

  test("are at most as many as asked for", async () => {
    const lines = await plan({ task: "discount", limit: 1 });
    expect(lines.filter((line) => !line.startsWith("("))).toHaveLength(1);
  });

  test("that the run may not see are not named", async () => {
    const maySee: ToolContext["maySee"] = (file) =>
      file.kind === "path" && !file.relative.startsWith("src/cart/");
    const text = (await plan({ task: "change src/cart/discount.ts and the discount" }, { maySee })).join(
      "\n",
    );
    expect(text).not.toMatch(/applyDiscount|checkout/);
    expect(text).toContain("src/cart/discount.ts  named in the task, and not there yet");
  });
});

test("a task about nothing says so, and one that nothing fits too", async () => {
  expect((await plan({ task: "do it" }))[0]).toMatch(/^error: the task names nothing to search for/);
  expect((await plan({ task: "zebra stripes" }))[0]).toBe("no file holds words of the task");
});

test("a stopped run stops the search", async () => {
  expect((await plan({ task: "the discount" }, { signal: AbortSignal.abort() }))[0]).toMatch(
    /^error: .*abort/i,
  );
});

test("companions are files that changed in at least two and a third of a file's commits", () => {
  const commits = [["a", "b"], ["a", "b"], ["a", "c"], ["a"], ["b", "c"]];
  expect(findCompanions("a", { commits })).toEqual([{ path: "b", together: 2, of: 4 }]);
});

test.each([
  ["src/a.ts", "./b.ts", "src/b.ts"],
  ["src/a.ts", "./b", "src/b.ts"],
  ["src/a.ts", "./b.js", "src/b.ts"],
  ["src/a.ts", "../lib", "lib/index.ts"],
  ["src/a.ts", "./none", undefined],
  ["src/a.ts", "../../../etc/passwd", undefined],
  ["pkg/x.py", ".y", "pkg/y.py"],
  ["pkg/x.py", "..top", "top.py"],
  ["main.py", "pkg.y", "pkg/y.py"],
  ["main.py", "pkg", "pkg/__init__.py"],
])("in %s, %s is %s", (from, module, expected) => {
  const files = new Set(["src/a.ts", "src/b.ts", "lib/index.ts", "pkg/y.py", "pkg/__init__.py", "top.py"]);
  expect(resolveImport({ from, module }, files)).toBe(expected);
});

test("the history of a worktree that Retinue made is read", async () => {
  place.git("init", "-q");
  place.git("add", ".");
  place.git("commit", "-qm", "first");
  const projectDir = join(place.root, "data/worktrees/one");
  place.git("worktree", "add", "-q", projectDir);
  const places = { env: {}, homeDir: place.root, dataDir: join(place.root, "data"), configDir: place.root };
  const settled = planFilesTool.withSettings?.(DEFAULT_SETTINGS, places) ?? planFilesTool;
  const targets = await planFilesTool.access({ task: "x" }, { projectDir, workspaceDir: place.workspaceDir });
  const { text } = await place.use(
    settled,
    { task: "Add a maximum to the discount" },
    { projectDir, targets },
  );
  expect(text).toContain("src/cart/discount.ts");
  expect(text).not.toContain("without the history");
});
