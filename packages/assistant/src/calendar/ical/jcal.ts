// Components of iCalendar and vCard as jCal holds them, parsed by ical.js within bounds.

import { messageOf } from "@retinue/core/schema/error";

const MAX_BLOCKS = 50_000;
/** The parser takes time by the square of their number. */
const MAX_PARAMETERS = 1_000;

/** A property as jCal holds it: name, parameters, type, then one or more values. */
export type Property = [
  name: string,
  parameters: Record<string, string | string[]>,
  type: string,
  ...values: unknown[],
];

/** A component as jCal (RFC 7265) holds it: plain data, as `ICAL.parse` gives it and `ICAL.stringify` takes it. */
export type Component = [name: string, properties: Property[], components: Component[]];

/** All properties of a name. */
export function findProperties(component: Component, name: string): Property[] {
  return component[1].filter((property) => property[0] === name);
}

/** The first property of a name. */
export function findProperty(component: Component, name: string): Property | undefined {
  return component[1].find((property) => property[0] === name);
}

/** The first value of a property as text; undefined if it is absent or empty. */
export function findText(component: Component, name: string): string | undefined {
  const value = findProperty(component, name)?.[3];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** One parameter of a property; the first if it has several. */
export function findParameter(property: Property, name: string): string | undefined {
  const value = property[1][name];
  return Array.isArray(value) ? value[0] : value;
}

/** A copy without the named properties and with the given ones. */
export function replaceProperties(
  component: Component,
  without: readonly string[],
  add: readonly Property[],
): Component {
  const kept = component[1].filter((property) => !without.includes(property[0]));
  return [component[0], [...kept, ...add], component[2]];
}

/** Text as a value may hold it: line ends as `\n`, no other control characters, no halves of a character. */
export function cleanValue(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");
}

/** A value of one line: for addresses, ids and other values that are written unescaped. */
export function cleanLine(text: string): string {
  return cleanValue(text).replace(/\s+/g, " ").trim();
}

/** The components of a name in iCalendar or vCard text. If the whole cannot be read, its blocks are read one by one. */
export async function parseComponents(
  text: string,
  name: "vcalendar" | "vcard",
  block: "VEVENT" | "VCARD",
): Promise<{ components: Component[]; problems: string[] }> {
  const { default: ical } = await import("ical.js");
  const source = text.replace(/^\uFEFF/, "");
  const parse = (part: string): Component[] => {
    refuseManyParameters(part);
    const result: unknown = ical.parse(part);
    const roots = Array.isArray(result) && Array.isArray(result[0]) ? result : [result];
    return roots.filter(isComponent).filter((component) => component[0] === name);
  };
  try {
    return { components: parse(source), problems: [] };
  } catch (whole) {
    const components: Component[] = [];
    const problems: string[] = [];
    const blocks = splitBlocks(source, [block, "VTIMEZONE"]);
    for (const part of blocks) {
      try {
        const wrapped = name === "vcalendar" ? `BEGIN:VCALENDAR\r\n${part}\r\nEND:VCALENDAR` : part;
        components.push(...parse(wrapped));
      } catch (error) {
        problems.push(messageOf(error).slice(0, 300));
      }
    }
    if (blocks.length === 0) problems.push(messageOf(whole).slice(0, 300));
    return { components: name === "vcalendar" ? joinCalendars(components) : components, problems };
  }
}

function refuseManyParameters(text: string): void {
  for (const line of text.split(/\r?\n(?![ \t])/)) {
    if (line.length <= MAX_PARAMETERS) continue;
    let parameters = 0;
    for (const [sign] of line.matchAll(/"[^"]*"|[;:]/g)) {
      if (sign === ":") break;
      if (sign === ";") parameters++;
      if (parameters > MAX_PARAMETERS)
        throw new RangeError(`a line has more than ${MAX_PARAMETERS} parameters`);
    }
  }
}

/** What is between BEGIN and END of these names, outermost, with line ends as RFC 5545 has them. */
export function splitBlocks(text: string, names: readonly string[]): string[] {
  const blocks: string[] = [];
  let open: { name: string; lines: string[] } | undefined;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, verb, name = ""] =
      /^(BEGIN|END):([A-Z]+)\s*$/i.exec(line)?.map((part) => part.toUpperCase()) ?? [];
    if (!open && verb === "BEGIN" && names.includes(name)) open = { name, lines: [] };
    open?.lines.push(line);
    if (!open || verb !== "END" || name !== open.name) continue;
    if (blocks.push(open.lines.join("\r\n")) >= MAX_BLOCKS) return blocks;
    open = undefined;
  }
  return blocks;
}

/** One calendar of many, so that events still find their zones. */
function joinCalendars(calendars: readonly Component[]): Component[] {
  return calendars.length === 0 ? [] : [["vcalendar", [], calendars.flatMap((calendar) => calendar[2])]];
}

function isComponent(value: unknown): value is Component {
  return (
    Array.isArray(value) &&
    typeof value[0] === "string" &&
    Array.isArray(value[1]) &&
    value[1].every(isProperty) &&
    Array.isArray(value[2])
  );
}

function isProperty(value: unknown): value is Property {
  return Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "object";
}
