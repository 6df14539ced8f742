import type { PastCall } from "../../../../models/offline/procedure.ts";
import { type Data, dataOf, listIn, textIn, textsIn } from "../call-data.ts";
import { clockIn, spokenSpan } from "../slots/moment.ts";

const MOST_SHOWN = 8;
const MOST_SLOTS = 3;

/** What the calendar's calls came to. */
export function calendarSummary(calls: readonly PastCall[]): string {
  const made = dataOf(calls, "calendar_create_event");
  const changed = dataOf(calls, "calendar_update_event");
  const removed = dataOf(calls, "calendar_delete_event");
  const checked = dataOf(calls, "calendar_check_availability");
  if (made) return createdText(made);
  if (changed)
    return `Changed '${textIn(changed, "title")}': now ${spokenSpan(textIn(changed, "datetime"), "")}.${withWhom(changed)}`;
  if (removed) return `Deleted '${textIn(removed, "title")}'.`;
  if (checked) return availabilityText(checked);
  const listed = dataOf(calls, "calendar_list_events");
  return listed ? listText(listed) : "";
}

function createdText(event: Data): string {
  const recurring = textIn(event, "recurrence") ? ` It recurs (${textIn(event, "recurrence")}).` : "";
  const place = textIn(event, "location") ? ` Place: ${textIn(event, "location")}.` : "";
  const conflicts = listIn(event, "conflicts");
  const clash =
    conflicts.length > 0 ? ` It overlaps with ${conflicts.map(spanLine).join("; ")}.` : " No conflicts.";
  return `Created '${textIn(event, "title")}' on ${spokenSpan(textIn(event, "datetime"), textIn(event, "end"))}.${withWhom(event)}${place}${recurring}${clash}`;
}

function withWhom(event: Data): string {
  const attendees = textsIn(event, "attendees");
  return attendees.length > 0 ? ` ${attendees.length} invited: ${attendees.join(", ")}.` : "";
}

function availabilityText(data: Data): string {
  if (data.available !== true) return `Not free: ${conflictText(data)}`;
  return `Free on ${spokenSpan(textIn(data, "start"), textIn(data, "end"))}.${unknownText(data)}`;
}

/** What stands in the way of a time, and which times near it are free. */
export function conflictText(data: Data): string {
  const busy = listIn(data, "busy").map(
    (one) => `${textIn(one, "who")} is busy ${clockIn(textIn(one, "start"))}-${clockIn(textIn(one, "end"))}`,
  );
  const reasons = [...listIn(data, "conflicts").map(spanLine), ...busy];
  const free = listIn(data, "suggestions")
    .slice(0, MOST_SLOTS)
    .map((slot) => spokenSpan(textIn(slot, "start"), textIn(slot, "end")));
  const when = spokenSpan(textIn(data, "start"), textIn(data, "end"));
  const instead = free.length > 0 ? ` Free: ${free.join("; ")}.` : " No free time was found near it.";
  return `${when} conflicts with ${reasons.join("; ") || "another appointment"}.${instead}${unknownText(data)}`;
}

function unknownText(data: Data): string {
  const unknown = listIn(data, "unknown").map((one) => textIn(one, "who"));
  return unknown.length > 0 ? ` Not known for ${unknown.join(", ")}.` : "";
}

function listText(data: Data): string {
  const events = listIn(data, "events");
  const total = Number(data.total ?? events.length);
  if (events.length === 0) return "No events were found.";
  const more = total > MOST_SHOWN ? `; and ${total - MOST_SHOWN} more` : "";
  return `${total} ${total === 1 ? "event" : "events"}: ${events.slice(0, MOST_SHOWN).map(eventLine).join("; ")}${more}.`;
}

/** An event in a list. */
export function eventLine(event: Data): string {
  return `'${textIn(event, "title")}' ${spokenSpan(textIn(event, "datetime"), "")}`;
}

function spanLine(span: Data): string {
  const title = textIn(span, "title");
  return `${title ? `'${title}'` : "an event"} (${clockIn(textIn(span, "start"))}-${clockIn(textIn(span, "end"))})`;
}
