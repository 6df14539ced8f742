import { InvalidArgumentError } from "commander";

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const AGO = /^(\d{1,6})([mhdw])$/;
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/;
const ZONE = /(?:Z|[+-]\d\d:\d\d)$/;

/** Reads `7d` and the like, or an ISO date, as a moment; like all times that are shown, a date without a zone is UTC. */
export function parseSince(text: string): number {
  const moment = ago(text) ?? date(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError("It must be like 30m, 24h, 7d, 2w, 2026-01-31 or 2026-01-31T08:00.");
}

function ago(text: string): number | undefined {
  const [, amount, unit] = AGO.exec(text) ?? [];
  if (amount === undefined || unit === undefined || !isUnit(unit)) return undefined;
  return Date.now() - Number(amount) * UNITS_MS[unit];
}

function date(text: string): number | undefined {
  const zone = text.includes("T") ? ZONE.exec(text)?.[0] : undefined;
  const local = zone === undefined ? text : text.slice(0, -zone.length);
  if (!DATE.test(local)) return undefined;
  const utc = Date.parse(local.includes("T") ? `${local}Z` : local);
  // A day that the month does not have would otherwise be taken for one of the next.
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(local.slice(0, 10))) return undefined;
  const moment = zone === undefined ? utc : Date.parse(text);
  return Number.isNaN(moment) ? undefined : moment;
}

function isUnit(unit: string): unit is keyof typeof UNITS_MS {
  return Object.hasOwn(UNITS_MS, unit);
}
