import { afterAll, expect, test } from "vitest";
import { compareRecords } from "./compare.ts";
import { inFirstSchema, listPlayed, listSessions, unpackDatabase } from "./database.ts";
import { stopTime } from "./golden-clock.ts";
import { loadScenario, readGolden, readShown } from "./golden-files.ts";
import { showSessions } from "./show-sessions.ts";
import {
  findProject,
  makeRoot,
  openLife,
  type Place,
  removeRoot,
  resumeSession,
  writeProject,
} from "./world.ts";

const root = makeRoot();
const database = unpackDatabase(root);
/** The same sessions, as the very first schema of the record kept them. */
const firstRoot = makeRoot();
const firstDatabase = unpackDatabase(firstRoot);
inFirstSchema(firstDatabase);
afterAll(() => {
  removeRoot(root);
  removeRoot(firstRoot);
});

test("an older database opens, and lists, traces and statistics say what they said then", async () => {
  using _clock = stopTime();
  const lines = await showSessions(root, listSessions(database));
  const differences = compareRecords(
    "commands",
    { lines: readShown(), texts: new Map() },
    { lines, texts: new Map() },
  );
  if (differences.length > 0) expect.fail(`commands say something else\n${differences.join("\n")}`);
});

/** How the tasks of a killed session ended when it was recorded. */
function findOutcome(name: string): { status: unknown }[] {
  const outcome = readGolden(name, new Map()).lines.find(({ at }) => at === "outcome")?.outcome;
  return Array.isArray(outcome) ? outcome.map(({ status }) => ({ status })) : [];
}

const KILLED = listPlayed(database).filter((name) => name.startsWith("killed-"));

test("the database has sessions of processes that were killed", () => {
  expect(KILLED).toHaveLength(7);
});

/** Goes on with what was killed, and replays all sessions of a scenario. */
async function resumeAndReplay(place: Place): Promise<void> {
  const { name, database: file } = place;
  using clock = stopTime();
  const scenario = await loadScenario(name);
  writeProject(place, scenario);
  const sessions = listSessions(file, findProject(place));
  const life = await openLife(place, scenario, clock, scenario.killed?.afterwards);
  for (const id of scenario.killed ? sessions.slice(-1) : [])
    expect(await resumeSession(life, id)).toMatchObject(findOutcome(name));
  for (const id of sessions) {
    const { divergence } = await life.runtime.replay(id);
    if (scenario.replayDiffersAt) expect(divergence).toMatchObject({ what: scenario.replayDiffersAt });
    else expect(divergence).toBeNull();
  }
  await life.close();
}

test.each(listPlayed(database))(
  "sessions of %s replay as they were recorded; one that was killed goes on and ends",
  (name) => resumeAndReplay({ root, name, database }),
);

test.each(KILLED.filter((name) => name !== "killed-plan"))(
  "a database of the first schema opens; the session of %s goes on, ends and replays",
  (name) => resumeAndReplay({ root: firstRoot, name, database: firstDatabase }),
);
