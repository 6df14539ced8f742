import { type Asked, isPlainPath } from "./asked.ts";
import { type Credentials, identify } from "./credentials.ts";
import { type OpenLinks, takeToken } from "./links.ts";
import { isOwnHost } from "./own-host.ts";
import { isOwnOrigin } from "./own-origin.ts";
import type { Rate } from "./rate-limit.ts";
import { type Answered, protect } from "./security-headers.ts";

/** Everything that stands between a request and the routes; tests switch each off to show what it is for. */
export type ServerGuards = {
  isOwnHost(host: string | null, port: number): boolean;
  isOwnOrigin(asked: Asked): boolean;
  isPlainPath(asked: Asked): boolean;
  identify(asked: Asked, credentials: Credentials, nowMs: number): string | null;
  takeToken(open: OpenLinks, token: string, nowMs: number): boolean;
  protect(headers: Headers, answered: Answered): void;
  /** How often one client may change something. */
  readonly writes: Rate;
  /** How often anybody may try a wrong cookie, key or token. */
  readonly failures: Rate;
  readonly maxBodyBytes: number;
  /** Event streams that one client may have open. */
  readonly maxStreams: number;
};

/** The guards of every server. */
export const serverGuards: ServerGuards = {
  isOwnHost,
  isOwnOrigin,
  isPlainPath,
  identify,
  takeToken,
  protect,
  writes: { burst: 60, perSecond: 20 },
  failures: { burst: 30, perSecond: 1 },
  maxBodyBytes: 1024 * 1024,
  maxStreams: 30,
};
