import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ParsedFrontmatter } from "@retinue/core/agents/yaml/parse-yaml";
import { parseYaml } from "@retinue/core/agents/yaml/parse-yaml";
import { expect, test } from "vitest";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

test("what the build read of the built-in agents is what strict YAML reads, for every one of them", async () => {
  const built = JSON.parse(readFileSync(at("dist/frontmatter.json"), "utf8")) as ParsedFrontmatter[];
  const agents = readdirSync(at("agents")).filter((file) => file.endsWith(".md"));
  expect(built).toHaveLength(agents.length);
  for (const { text, values, lines } of built) {
    const fields = { values: new Map(values), lines: new Map(lines), notes: [] };
    expect(await parseYaml(text, 1, false)).toEqual({ fields });
  }
});
