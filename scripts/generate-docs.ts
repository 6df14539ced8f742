/**
 * Writes what the documentation says of the fields of agent files and of the settings: `npm run docs`. The tables of fields
 * in packages/core/src/schema/agent-fields.ts and of settings are the source; nobody edits what is written here.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { listGeneratedDocs } from "../test/generated-docs.ts";

for (const { file, generate } of listGeneratedDocs())
  writeFileSync(file, generate(readFileSync(file, "utf8")));
