import { join } from "node:path";
import { stopTime } from "./golden-clock.ts";
import { type GoldenRecord, normalise } from "./normalise.ts";
import { readEvents } from "./read-events.ts";
import { type Line, readRecord } from "./read-record.ts";
import { readRequests } from "./read-requests.ts";
import type { Scenario, Scripts } from "./scenario.ts";
import {
  checkScripts,
  copyDatabase,
  type Life,
  openLife,
  PACKAGE_ROOT,
  type Place,
  playFirst,
  resumeSession,
  writeProject,
} from "./world.ts";

/** Plays a scenario afresh and gives its record. */
export async function playScenario(name: string, scenario: Scenario, root: string): Promise<GoldenRecord> {
  using clock = stopTime();
  const place = { root, name, database: join(root, `${name}.db`) };
  writeProject(place, scenario);
  const life = await openLife(place, scenario, clock);
  await playFirst(life, scenario);
  const lines = scenario.killed
    ? await playAfterwards(life, place, scenario, scenario.killed.afterwards)
    : await endLife(life, place.database, scenario);
  const settled = scenario.isParallel ? lines.map(sortLists) : lines;
  return normalise(settled, { root, name, packageRoot: PACKAGE_ROOT });
}

async function endLife(life: Life, database: string, scenario: Scenario): Promise<Line[]> {
  await life.close();
  checkScripts(life);
  return [...readRecord(database, scenario), ...describeLife(life, scenario)];
}

/** Another process finds what the killed one left, and resumes its session. */
async function playAfterwards(
  killed: Life,
  place: Place,
  scenario: Scenario,
  scripts: Scripts,
): Promise<Line[]> {
  const left = { ...place, database: join(place.root, `${place.name}-left.db`) };
  copyDatabase(place.database, left.database);
  const before = describeLife(killed, scenario);
  await killed.close();
  const next = await openLife(left, scenario, killed.clock, scripts);
  next.outcomes.push(await resumeSession(next, findLastSession(killed)));
  return [...before, ...(await endLife(next, left.database, scenario))];
}

function findLastSession({ events }: Life): string {
  return events.findLast(({ type }) => type === "session.started")?.sessionId ?? "";
}

function describeLife({ outcomes, events, models }: Life, scenario: Scenario): Line[] {
  return [
    ...outcomes.map((outcome) => ({ at: "outcome", outcome })),
    ...readEvents(events, scenario),
    ...readRequests(models),
  ];
}

/** Lists in a result whose order is that in which runs ended. */
const BY_END = new Set(["sub_runs", "files_created", "files_modified", "files_deleted", "tools_used"]);

function sortLists(line: Line): Line {
  const sort = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sort);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        if (!BY_END.has(key) || !Array.isArray(each)) return [key, sort(each)];
        const known = (one: unknown) => JSON.stringify(one).replace(/"(?:run|ses)_\w+"/g, "");
        return [key, [...each].sort((one, other) => (known(one) < known(other) ? -1 : 1))];
      }),
    );
  };
  return { ...(sort(line) as Line), at: line.at };
}
