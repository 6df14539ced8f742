import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Outcome } from "./attack.ts";

/** Values that must never be seen again; put together here so that this file holds none of them. */
export const CANARIES: readonly string[] = [
  ["sk", "ant", "api03", "Zq7Canary4Wm9Xv2Bt6Np1Lk8"].join("-"),
  ["ghp", "c4Nary8Fj2Kd9Sl3Pq7Wm1Zx5Vb6Nr0Ty8Ue"].join("_"),
  ["AKIA", "C4N4RYJ7K2M9Q5X8"].join(""),
  ["env", "Canary", "5up3rS3cr3tValue"].join("-"),
];

/** An environment in which one canary is known by the name of its variable alone. */
export const CANARY_ENV: Readonly<Record<string, string>> = { BILLING_TOKEN: CANARIES[3] ?? "" };

/** All canaries in one sentence. */
export const CANARY_TEXT = `keys: ${CANARIES.join(" and ")}.`;

/** Every file below a folder, but for the checkpoints: they are the project's own bytes, as the project has them. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith("blobs/"))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Looks for canaries in every place the runtime writes to or speaks through. */
export async function expectNoCanary({ world, t, result }: Outcome): Promise<void> {
  const sinks = new Map<string, string>([
    ["the events", JSON.stringify(t.events)],
    ["the result", JSON.stringify(result)],
    ["the rows", JSON.stringify(await t.runtime.record.readRows({ sessionId: result.session_id }))],
    ["the session", JSON.stringify((await t.runtime.record.listSessions()).sessions)],
  ]);
  for (const path of filesIn(world.dataDir)) sinks.set(path, `${path} ${readFileSync(path, "latin1")}`);
  expect([...sinks.keys()].some((name) => name.endsWith(".db-wal") || name.endsWith(".db"))).toBe(true);
  const leaks = [...sinks].flatMap(([name, text]) =>
    CANARIES.filter((canary) => text.includes(canary)).map((canary) => `${canary.slice(0, 4)}… in ${name}`),
  );
  expect(leaks).toEqual([]);
}
