import { orAborted } from "@retinue/core/net/or-aborted";
import { type Egress, EgressError, type EgressFailure, toEgressError } from "./egress-guard.ts";
import { fetchResource } from "./fetch-resource.ts";

/** What a check of robots.txt needs to know of the request it is for. */
type RobotsRequest = { signal: AbortSignal; userAgent: string; deadlineMs: number };

/** Remembers what the robots.txt of each origin says. */
export type Robots = {
  /** Resolves if the address may be asked for; throws an `EgressError` if not. */
  check(url: URL, request: RobotsRequest): Promise<void>;
};

type Entry = { rules: Promise<readonly RobotsRule[]>; chars: number; until: number; failures: number };

const ROBOT = "retinue";
/** RFC 9309: at least 500 KiB are read, and nothing is kept for more than a day. */
const MAX_BYTES = 512_000;
const KEPT_MS = 24 * 3_600_000;
const FAILURE_KEPT_MS = 3_600_000;
const DEADLINE_MS = 10_000;
const MAX_ORIGINS = 500;
const MAX_CHARS = 5_000_000;
const PACE = { bytes: 1, everyMs: 5_000 };

/** Failures of robots.txt alone; any other the page itself would meet as well, so that it is told as it is. */
const UNREADABLE: ReadonlySet<EgressFailure> = new Set(["http_error", "bad_encoding"]);
/** A robots.txt that is not there forbids nothing. */
const ABSENT: ReadonlySet<EgressFailure> = new Set(["not_found", "rate_limited", "redirect_loop", "bad_url"]);
const memories = new WeakMap<Egress, Robots>();

/** The memory that belongs to one way out. */
export function findRobots(egress: Egress): Robots {
  const robots = memories.get(egress) ?? createRobots(egress);
  memories.set(egress, robots);
  return robots;
}

/**
 * Reads robots.txt through the same guard as pages. A 4xx forbids nothing. A 5xx or a failing connection forbids everything;
 * it is tried once more when the origin is asked for again, and then left alone for an hour.
 */
export function createRobots(egress: Egress, now: () => number = () => performance.now()): Robots {
  const entries = new Map<string, Entry>();
  return {
    async check(url, request) {
      if (url.pathname === "/robots.txt") return;
      const known = entries.get(url.origin);
      const entry = known && now() < known.until ? known : open(url.origin, request);
      const rule = findDecidingRule(await orAborted(entry.rules, request.signal), url);
      if (rule && !rule.allow) {
        throw new EgressError(
          "robots",
          `robots.txt of ${url.host} forbids it: ${rule.pattern.slice(0, 200)}`,
        );
      }
    },
  };

  function open(origin: string, request: RobotsRequest): Entry {
    const failures = entries.get(origin)?.failures ?? 0;
    const rules = readRobots(egress, origin, request);
    const entry: Entry = { rules, chars: 0, until: now() + KEPT_MS, failures };
    entries.delete(origin);
    entries.set(origin, entry);
    const noteRules = (read: readonly RobotsRule[]) => {
      entry.failures = 0;
      entry.chars = read.reduce((sum, { pattern }) => sum + pattern.length + 50, 0);
    };
    const noteFailure = () => {
      entry.failures = failures + 1;
      entry.until = entry.failures === 1 ? Number.NEGATIVE_INFINITY : now() + FAILURE_KEPT_MS;
    };
    void rules.then(noteRules, noteFailure).then(() => forgetOldest(entries));
    return entry;
  }
}

function forgetOldest(entries: Map<string, Entry>): void {
  let chars = [...entries.values()].reduce((sum, entry) => sum + entry.chars, 0);
  for (const [origin, entry] of entries) {
    if (entries.size <= MAX_ORIGINS && chars <= MAX_CHARS) return;
    chars -= entry.chars;
    entries.delete(origin);
  }
}

/** The rules of an origin, unless they cannot be known. Not ended by any one page's signal, because all its pages wait for it. */
async function readRobots(
  egress: Egress,
  origin: string,
  request: RobotsRequest,
): Promise<readonly RobotsRule[]> {
  const ms = Math.min(DEADLINE_MS, request.deadlineMs);
  const late = AbortSignal.timeout(ms);
  try {
    const { body } = await fetchResource(`${origin}/robots.txt`, {
      egress,
      signal: late,
      headers: {},
      userAgent: request.userAgent,
      accept: "text/plain,*/*;q=0.1",
      maxBytes: MAX_BYTES,
      whenLonger: "cut",
      pace: PACE,
    });
    const text = body.toString("utf8");
    const whole = body.length < MAX_BYTES ? text : text.slice(0, text.lastIndexOf("\n") + 1);
    return parseRobots(whole, ROBOT);
  } catch (thrown) {
    if (late.aborted)
      throw new EgressError("timeout", `robots.txt of ${origin} did not come within ${ms} ms`);
    const error = toEgressError(thrown, origin);
    const { failure, message, httpStatus = 500 } = error;
    if (ABSENT.has(failure) || (failure === "http_error" && httpStatus < 500)) return [];
    if (!UNREADABLE.has(failure)) throw error;
    throw new EgressError("robots", `robots.txt of ${origin} cannot be read: ${message}`);
  }
}

/** One line of a robots.txt that concerns us; `pattern` is in the form of `matchForm`. */
type RobotsRule = { allow: boolean; pattern: string };

/** More rules than this are not looked at, so that no site can keep us busy with them. */
const MAX_RULES = 5_000;

type Group = { agents: string[]; rules: RobotsRule[] };

/**
 * The rules of a robots.txt for one robot by RFC 9309: those of all groups that name it, else those for everybody.
 * `Crawl-delay` is no part of that standard and is ignored; a run asks for too few pages for it to matter.
 */
export function parseRobots(text: string, robot: string): RobotsRule[] {
  const groups = readGroups(text);
  const named = groups.filter(({ agents }) => agents.includes(robot.toLowerCase()));
  const chosen = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes("*"));
  return chosen.flatMap(({ rules }) => rules).slice(0, MAX_RULES);
}

/** The rule that decides on an address: the longest that matches, and of two equally long the one that allows. */
export function findDecidingRule(rules: readonly RobotsRule[], url: URL): RobotsRule | undefined {
  const path = toMatchForm(url.pathname + url.search);
  let deciding: RobotsRule | undefined;
  for (const rule of rules) {
    const lead = rule.pattern.length - (deciding?.pattern.length ?? -1);
    if ((lead > 0 || (lead === 0 && rule.allow)) && matchesPath(rule.pattern, path)) deciding = rule;
  }
  return deciding;
}

function readGroups(text: string): Group[] {
  const groups: Group[] = [];
  let open = false;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    const [, key = "", value = ""] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
    const name = key.toLowerCase();
    if (name === "user-agent") {
      const group = open ? groups.at(-1) : undefined;
      const agent = readAgentName(value);
      if (group) group.agents.push(agent);
      else groups.push({ agents: [agent], rules: [] });
      open = true;
    } else if (name === "allow" || name === "disallow") {
      open = false;
      const pattern = value.trim();
      if (pattern) groups.at(-1)?.rules.push({ allow: name === "allow", pattern: toMatchForm(pattern) });
    }
  }
  return groups;
}

/** Only the product name counts: `Retinue/1.0` is `retinue`. */
function readAgentName(value: string): string {
  const text = value.trim().toLowerCase();
  return text.startsWith("*") ? "*" : (/^[a-z_-]+/.exec(text)?.[0] ?? "");
}

/** Paths and patterns are compared as octets: escapes of plain characters are undone, others written in one way. */
function toMatchForm(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase();
    });
}

/** `*` stands for anything and a final `$` for the end. Runs through the path once, so that no pattern is slow. */
function matchesPath(pattern: string, path: string): boolean {
  const toEnd = pattern.endsWith("$");
  const [first = "", ...parts] = (toEnd ? pattern.slice(0, -1) : pattern).split("*");
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = toEnd ? parts.pop() : undefined;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  if (!toEnd) return true;
  if (last === undefined) return at === path.length;
  return path.endsWith(last) && path.length - last.length >= at;
}
