/** What the guard looks at before anything else reads a request. */
export type GuardedRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** The request's target as it was sent; undefined where no socket is behind it. */
  readonly target?: string | undefined;
};

/** Whether a request can only have the effect of reading. */
export function isReading({ method }: Pick<GuardedRequest, "method">): boolean {
  return method === "GET" || method === "HEAD";
}

/** The one-time token that a link carries, which counts on the first page only. */
export function tokenIn({ method, url }: GuardedRequest): string | null {
  return method === "GET" && url.pathname === "/" ? url.searchParams.get("token") : null;
}

/** Whether a target is sent as it is meant: no dots, slashes or characters that are read as others. */
export function isPlainPath({ url, target }: GuardedRequest): boolean {
  return target === undefined || target.split(/[?#]/, 1)[0] === url.pathname;
}

const NAMES = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Whether a Host header names this server. A page whose own name was made to point at this machine sends its own name,
 * so this is what stops DNS rebinding.
 */
export function isOwnHost(host: string | null, port: number): boolean {
  const named = host?.toLowerCase();
  return NAMES.some((name) => named === `${name}:${port}` || (port === 80 && named === name));
}

/** Where a browser says that a request comes from, if that is this server or the person. */
const OWN_SITES = new Set(["same-origin", "none"]);

/**
 * Whether a request comes from our own page, from the person, or from a program. Another port of this machine is
 * another origin although browsers send it our cookie, so `same-site` is as foreign as `cross-site`. That holds for
 * reading and for opening a page as well: only a link with a one-time token may be followed from elsewhere, since
 * a page that has the token could as well show it. A write must say where it comes from, or bring the key itself.
 */
export function isOwnOrigin(asked: GuardedRequest): boolean {
  const { headers } = asked;
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if (origin !== null && origin !== `http://${headers.get("host")?.toLowerCase()}`) return false;
  if (site !== null && !OWN_SITES.has(site)) return isFollowedLink(asked);
  if (isReading(asked) || origin !== null || site !== null) return true;
  return bearerIn(headers) !== undefined;
}

/** Whether a foreign page led here, so that what follows must begin anew from our own page. */
export function isFromElsewhere({ headers }: GuardedRequest): boolean {
  const site = headers.get("sec-fetch-site");
  return site !== null && !OWN_SITES.has(site);
}

function isFollowedLink(asked: GuardedRequest): boolean {
  const { headers } = asked;
  if (tokenIn(asked) === null || headers.get("origin") !== null) return false;
  return headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
}

/** The key that a request brings; a request with one is judged by that alone. */
export function bearerIn(headers: Headers): string | undefined {
  return /^Bearer ([\w-]+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}
