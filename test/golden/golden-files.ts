import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { readJsonLines } from "./compare.ts";
import type { GoldenRecord } from "./normalise.ts";
import type { Line } from "./read-record.ts";
import type { Scenario } from "./scenario.ts";

const SCENARIOS = new URL("./scenarios/", import.meta.url);
const RECORDS = new URL("./records/", import.meta.url);
const TEXTS = new URL("./records/texts.jsonl", import.meta.url);

const SHOWN = new URL("../fixtures/golden/shown.jsonl", import.meta.url);

type Text = { hash: string; text: string };

/** The names of all scenarios, which are those of their files. */
export function listScenarios(): string[] {
  const files = readdirSync(SCENARIOS).filter((file) => file.endsWith(".ts"));
  return files.map((file) => file.replace(/\.ts$/, "")).sort();
}

/** Loads a scenario by its name. */
export async function loadScenario(name: string): Promise<Scenario> {
  const loaded: { default: Scenario } = await import(new URL(`${name}.ts`, SCENARIOS).href);
  return loaded.default;
}

/** The names of all scenarios that there is a golden record of. */
export function listRecords(): string[] {
  const files = readdirSync(RECORDS).filter((file) => file.endsWith(".jsonl") && file !== "texts.jsonl");
  return files.map((file) => file.replace(/\.jsonl$/, "")).sort();
}

/** The long texts of all golden records. */
export function readTexts(): ReadonlyMap<string, string> {
  return new Map(readJsonLines<Text>(TEXTS).map(({ hash, text }) => [hash, text]));
}

/** The golden record of a scenario. */
export function readGolden(name: string, texts: ReadonlyMap<string, string>): GoldenRecord {
  return { lines: readJsonLines<Line>(new URL(`${name}.jsonl`, RECORDS)), texts };
}

/** What the commands printed of the sessions in the database. */
export function readShown(): Line[] {
  return readJsonLines<Line>(SHOWN);
}

/** Writes anew what the commands print. */
export function writeShown(lines: readonly Line[]): void {
  writeFileSync(SHOWN, toLines(lines));
}

/** Writes all golden records anew. */
export function writeGolden(records: ReadonlyMap<string, GoldenRecord>): void {
  for (const name of listRecords()) {
    if (!records.has(name)) rmSync(new URL(`${name}.jsonl`, RECORDS));
  }
  const texts = new Map<string, string>();
  for (const [name, record] of records) {
    for (const [hash, text] of record.texts) texts.set(hash, text);
    writeFileSync(new URL(`${name}.jsonl`, RECORDS), toLines(record.lines));
  }
  const sorted = [...texts].sort(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(TEXTS, toLines(sorted.map(([hash, text]) => ({ hash, text }))));
}

function toLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
