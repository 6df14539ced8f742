import { basename } from "node:path";
import { parseCalendar, type Series } from "../../ical/parse-calendar.ts";
import { addEvent, eventRow, findSeries, OWN_CALENDAR, replaceEvent } from "../event-rows.ts";
import type { ImportSource } from "./import-mail.ts";
import { addProblem, count } from "./import-report.ts";

/** Says in an export whose calendar it is. */
export const OWNER_PROPERTY = "X-RETINUE-OWNER";

/** Imports the events of iCalendar text. A file that is named after an address, or says whose it is, is that person's. */
export async function importCalendar(source: ImportSource, text: string): Promise<void> {
  const { database, file, report } = source;
  const { series, problems } = await parseCalendar(text);
  for (const problem of problems) addProblem(report, file, problem);
  const { address, zone } = database.owner();
  const owner = ownerIn(text) ?? addressIn(file) ?? address.toLowerCase();
  const calendar = owner === address.toLowerCase() ? OWN_CALENDAR : owner;
  for (const each of series) {
    try {
      const row = await eventRow(each, zone);
      const isNew = addEvent(database, calendar, row);
      const known = isNew ? null : await findSeries(database, each.uid, calendar);
      const isNewer = known !== null && sequenceOf(each) > sequenceOf(known.series);
      count(report, "events", isNew || (isNewer && replaceEvent(database, row, known.etag, calendar)));
    } catch (thrown) {
      addProblem(report, file, thrown);
    }
  }
}

/** How often the organiser changed an event. */
function sequenceOf({ master }: Series): number {
  const value = master?.[1].find(([name]) => name === "sequence")?.[3];
  return typeof value === "number" ? value : 0;
}

function ownerIn(text: string): string | undefined {
  const [, said] =
    new RegExp(`^${OWNER_PROPERTY}:(?:mailto:)?([^\\s@]{1,64}@[^\\s@]{1,255})\\s*$`, "im").exec(text) ?? [];
  return said?.toLowerCase();
}

function addressIn(file: string): string | undefined {
  return /^([^\s@]{1,64}@[^\s@]+\.[^\s@]+)\.ics$/i.exec(basename(file))?.[1]?.toLowerCase();
}
