import { fileURLToPath } from "node:url";
import { AGENT_FRONTMATTER_SCHEMA, documentFields } from "@retinue/core/agents/frontmatter-schema";
import { PUBLISHED_SETTINGS_SCHEMA } from "@retinue/core/settings/settings-schema";

/** A file that is generated as a whole or in part: from what it was, what it should be. */
type GeneratedDoc = { name: string; file: string; generate(before: string): string };

/** What stands between the two marks in a document. */
const FIELDS = /(?<=<!-- fields: npm run docs -->\n)[\s\S]*?(?=\n<!-- end of fields -->)/;

const writeSchema = (schema: object) => () => `${JSON.stringify(schema, null, 2)}\n`;

/** The parts of the documentation that are made from tables in the sources. */
export function listGeneratedDocs(): GeneratedDoc[] {
  const docs: [string, (before: string) => string][] = [
    ["agent-frontmatter.schema.json", writeSchema(AGENT_FRONTMATTER_SCHEMA)],
    ["settings.schema.json", writeSchema(PUBLISHED_SETTINGS_SCHEMA)],
    ["agent-files.md", (before) => before.replace(FIELDS, () => documentFields())],
  ];
  return docs.map(([name, generate]) => ({
    name,
    file: fileURLToPath(new URL(`../docs/${name}`, import.meta.url)),
    generate,
  }));
}
