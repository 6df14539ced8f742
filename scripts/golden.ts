/**
 * Plays all golden scenarios and writes their records anew: `npm run golden`. Look at the differences with git before you
 * commit them: each is a change of behaviour. With `--database` it records the database, too, if there is none.
 */
import { hasDatabase, listSessions, recordDatabase, unpackDatabase } from "../test/golden/database.ts";
import { stopTime } from "../test/golden/golden-clock.ts";
import { listScenarios, loadScenario, writeGolden, writeShown } from "../test/golden/golden-files.ts";
import type { GoldenRecord } from "../test/golden/normalise.ts";
import { playScenario } from "../test/golden/play-scenario.ts";
import { showSessions } from "../test/golden/show-sessions.ts";
import { makeRoot, removeRoot } from "../test/golden/world.ts";

if (process.argv.includes("--database")) {
  if (hasDatabase())
    throw new Error(
      "the database is a sample of those that people have: remove it first if you really mean to",
    );
  await recordDatabase();
}
const root = makeRoot();
const records = new Map<string, GoldenRecord>();
for (const name of listScenarios()) {
  try {
    records.set(name, await playScenario(name, await loadScenario(name), root));
  } catch (thrown) {
    console.error(`${name} cannot be played:`, thrown);
    process.exitCode = 1;
  }
}
writeGolden(records);
const database = unpackDatabase(root);
using _clock = stopTime();
writeShown(await showSessions(root, listSessions(database)));
removeRoot(root);
console.log(`${records.size} golden records written`);
