import { type Asked, isReading, tokenIn } from "./asked.ts";
import { bearerIn } from "./credentials.ts";

/** Where a browser says that a request comes from, if that is this server or the person. */
const OWN_SITES = new Set(["same-origin", "none"]);

/**
 * Whether a request comes from our own page, from the person, or from a program. Another port of this machine is
 * another origin although browsers send it our cookie, so `same-site` is as foreign as `cross-site`. That holds for
 * reading and for opening a page as well: only a link with a one-time token may be followed from elsewhere, since
 * whoever has the token could as well type it. A write must say where it comes from, or bring the key itself.
 */
export function isOwnOrigin(asked: Asked): boolean {
  const { headers } = asked;
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if (origin !== null && origin !== `http://${headers.get("host")?.toLowerCase()}`) return false;
  if (site !== null && !OWN_SITES.has(site)) return isFollowedLink(asked);
  if (isReading(asked) || origin !== null || site !== null) return true;
  return bearerIn(headers) !== undefined;
}

/** Whether a page of somebody else's led here, so that what follows must begin anew from our own page. */
export function isFromElsewhere({ headers }: Asked): boolean {
  const site = headers.get("sec-fetch-site");
  return site !== null && !OWN_SITES.has(site);
}

function isFollowedLink(asked: Asked): boolean {
  const { headers } = asked;
  if (tokenIn(asked) === null || headers.get("origin") !== null) return false;
  return headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
}
