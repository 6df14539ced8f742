import { readFileSync } from "node:fs";
import { AGENT_FRONTMATTER_SCHEMA } from "@retinue/builtin";
import { expect, test } from "vitest";

test("the schema that editors load is the one the library exports", () => {
  const file = readFileSync(new URL("../docs/agent-frontmatter.schema.json", import.meta.url), "utf8");
  expect(JSON.parse(file)).toEqual(AGENT_FRONTMATTER_SCHEMA);
});
