import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "@retinue/core/budget/clock";
import {
  type Credentials,
  hasCredentials,
  identifyClient,
  issueCookie,
  makeBearer,
  makeToken,
  type OpenLinks,
  takeToken,
} from "./credentials.ts";
import {
  type GuardedRequest,
  isFromElsewhere,
  isOwnHost,
  isOwnOrigin,
  isPlainPath,
  isReading,
  tokenIn,
} from "./guarded-request.ts";
import { protect } from "./security-headers.ts";

/** Why a request is turned away. */
export type RequestRefusal = {
  kind: "refused";
  status: 401 | 403 | 404 | 429;
  code: string;
  message: string;
  hint: string;
  /** Seconds after which it may be tried again. */
  retryAfter?: number;
};

/** What happens to a request. `entered`: a link was used, and the browser is sent to the page with its cookie. */
export type RequestAdmission =
  | RequestRefusal
  | { kind: "admitted"; client: string }
  | { kind: "entered"; setCookie: string | null; isFromElsewhere: boolean };

/** What a guard is made with. */
type GuardOptions = Pick<Credentials, "key" | "port"> & {
  /** Where links lead, such as `http://127.0.0.1:7477`. */
  readonly origin: string;
  readonly startId?: string;
  readonly clock?: Clock;
  /** Replaced by tests only. */
  readonly guards?: Partial<ServerGuards>;
};

/** Stands before every route. */
export type RequestGuard = ReturnType<typeof createGuard>;

/** Creates the guard of one server. */
export function createGuard(options: GuardOptions) {
  const { key, port, startId = randomBytes(12).toString("base64url"), clock = systemClock } = options;
  const guards: ServerGuards = { ...serverGuards, ...options.guards };
  const credentials: Credentials = { key, port, startId };
  const links: OpenLinks = new Map();
  const writes = limitRate(guards.writes, clock);
  const failures = limitRate(guards.failures, clock);

  const authenticate = (asked: GuardedRequest): RequestAdmission => {
    const client = guards.identify(asked, credentials, clock.wallMs());
    const token = tokenIn(asked);
    const elsewhere = isFromElsewhere(asked);
    if (token !== null && guards.takeToken(links, token, clock.wallMs())) {
      const setCookie = issueCookie(credentials, clock.wallMs());
      return { kind: "entered", setCookie, isFromElsewhere: elsewhere };
    }
    if (client !== null && token === null) return { kind: "admitted", client };
    if (client !== null) return { kind: "entered", setCookie: null, isFromElsewhere: elsewhere };
    const isGuess = token !== null || hasCredentials(asked, credentials);
    const wait = isGuess ? failures("") : 0;
    return wait > 0 ? tooMany(wait, "too many wrong keys and links were tried") : unknown();
  };

  return {
    guards,
    /** The key for programs of the same user. */
    bearer: makeBearer(credentials),
    /** Makes a link that lets one browser in, once and within ten minutes. */
    link: () => `${options.origin}/?token=${makeToken(links, clock.wallMs())}`,
    admit(asked: GuardedRequest): RequestAdmission {
      if (!guards.isOwnHost(asked.headers.get("host"), port)) return foreignHost(port);
      if (!guards.isOwnOrigin(asked)) return foreignOrigin();
      const admission = authenticate(asked);
      if (admission.kind !== "admitted") return admission;
      if (!guards.isPlainPath(asked)) return notPlain();
      const wait = isReading(asked) ? 0 : writes(admission.client);
      return wait > 0 ? tooMany(wait, "too many changes at once") : admission;
    },
    /** Counts an event stream; gives what to call when it is over, or null if there are too many. */
    openStream: countStreams(guards.maxStreams),
  };
}

function foreignHost(port: number): RequestRefusal {
  const message = "this server answers only to the names of this machine";
  return { kind: "refused", status: 403, code: "host", message, hint: `open http://127.0.0.1:${port}` };
}

function foreignOrigin(): RequestRefusal {
  const message = "another page asked for this";
  const hint = "open Retinue from its own page or from the address bar";
  return { kind: "refused", status: 403, code: "origin", message, hint };
}

function notPlain(): RequestRefusal {
  const hint = "write the path as it is meant";
  return { kind: "refused", status: 404, code: "not_found", message: "there is no such page", hint };
}

function unknown(): RequestRefusal {
  const message = "this browser is not known here, or its link was used before or is older than ten minutes";
  const hint = "press Enter in the terminal of `retinue serve`, or run `retinue serve` again, for a new link";
  return { kind: "refused", status: 401, code: "auth", message, hint };
}

function tooMany(retryAfter: number, message: string): RequestRefusal {
  const hint = `try again in ${retryAfter} s`;
  return { kind: "refused", status: 429, code: "rate", message, hint, retryAfter };
}

/** Every check between a request and the routes; tests switch each off to show what it is for. */
export type ServerGuards = typeof serverGuards;

/** The guards of every server. */
export const serverGuards = {
  isOwnHost,
  isOwnOrigin,
  isPlainPath,
  identify: identifyClient,
  takeToken,
  protect,
  /** How often one client may change something. */
  writes: { burst: 60, perSecond: 20 },
  /** How often wrong cookies, keys and tokens may be tried, by all clients together. */
  failures: { burst: 30, perSecond: 1 },
  maxBodyBytes: 1024 * 1024,
  /** Event streams that one client may have open. */
  maxStreams: 30,
};

/** So many at once, and so many a second in the long run. */
type Rate = { readonly burst: number; readonly perSecond: number };

const MAX_NAMES = 1_000;

/** Limits each name by itself. What it gives takes one: 0 if there was one, otherwise the seconds after which there will be. */
function limitRate({ burst, perSecond }: Rate, clock: Pick<Clock, "monotonicMs">): (name: string) => number {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return (name) => {
    const nowMs = clock.monotonicMs();
    const before = buckets.get(name) ?? { left: burst, atMs: nowMs };
    const left = Math.min(burst, before.left + ((nowMs - before.atMs) / 1_000) * perSecond);
    buckets.delete(name);
    const isFree = left >= 1;
    buckets.set(name, { left: isFree ? left - 1 : left, atMs: nowMs });
    for (const oldest of buckets.keys()) {
      if (buckets.size <= MAX_NAMES) break;
      buckets.delete(oldest);
    }
    return isFree ? 0 : Math.ceil((1 - left) / perSecond);
  };
}

/** Allows each client so many streams at once. What it gives opens one: null if there are too many, otherwise what ends it, however often that is called. */
function countStreams(most: number): (client: string) => (() => void) | null {
  const streams = new Map<string, Set<object>>();
  return (client) => {
    const open = streams.get(client) ?? new Set();
    if (open.size >= most) return null;
    const stream = {};
    streams.set(client, open.add(stream));
    return () => {
      open.delete(stream);
      if (open.size === 0 && streams.get(client) === open) streams.delete(client);
    };
  };
}
