// Requests to a DAV server: the password goes nowhere else, and every answer that cannot be used is a fault.

import { fetchWhole, findStatusFault, isSafeUrl } from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";

const MAX_BYTES = 30_000_000;
const ANSWER_MS = 60_000;
const MAX_HOPS = 3;
/** Strangers register names below these, so hosts below them do not belong together. */
const REGISTRY = /^(?:ac|co|com|edu|gob|gov|gv|ltd|ne|net|nom|or|org|plc)\.[a-z]{2}$/;

/** Where a DAV server is, or a path on it (the rest is found by asking it), and who asks. */
export type DavServer = { readonly url: string; readonly user: string; readonly password: string };

/**
 * A `fetch` for one DAV server: it adds the password, only towards that server's own hosts and only under TLS (or on
 * this machine), bounds time and size, and raises a fault for every answer that callers cannot use.
 */
export function createDavFetch(server: DavServer, signal: AbortSignal): typeof fetch {
  const home = parseServerUrl(server.url);
  const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString("base64")}`;
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    for (let hop = 0; ; hop++) {
      if (!isOwn(url, home))
        throw new ToolFault(
          "tool_error",
          `the server ${home.host} points to ${url.host}, which is not asked`,
        );
      const headers = new Headers(init?.headers);
      headers.set("authorization", authorization);
      // Redirects are followed here, so that each address is checked before it gets the password.
      const response = await fetchOnce(url, { ...init, headers, redirect: "manual" }, signal);
      const next = init?.redirect === "manual" ? null : response.headers.get("location");
      if (response.status < 300 || response.status > 399 || next === null || hop >= MAX_HOPS) return response;
      url = new URL(next, url);
    }
  };
}

async function fetchOnce(url: URL, init: RequestInit, signal: AbortSignal): Promise<Response> {
  const { response, body } = await fetchWhole(url, init, {
    ...{ signal, timeoutMs: ANSWER_MS, maxBytes: MAX_BYTES },
    ...{ service: url.host, about: `${init.method ?? "GET"} ${url.pathname}` },
  });
  const { status } = response;
  const said = `${url.host} answered ${status} ${response.statusText}`.trim();
  const refused = status === 401 ? `the password was refused: ${said}` : said;
  // The caller handles success, redirects, and what is missing, exists already or has changed.
  const isAllowed = status === 403 && url.pathname.startsWith("/.well-known/");
  const fault = isAllowed ? undefined : findStatusFault(response, refused, Date.now());
  if (fault) throw fault;
  if (init.method === "REPORT" && response.ok && !isWholeList(response, body))
    throw new ToolFault(
      "tool_error",
      `${url.host} answered with something else than a list, or a part of one`,
    );
  return response;
}

/** The address of a DAV server; `params` if a password may not go there. */
export function parseServerUrl(text: string): URL {
  if (!URL.canParse(text)) throw new ToolFault("params", `'${text}' is not the address of a server`);
  const url = new URL(text);
  if (isSafeUrl(url)) return url;
  throw new ToolFault("params", `a password goes only over https, not to ${url.protocol}//${url.host}`);
}

/** The same server, or for a name of three parts and more its sisters: providers spread users over such hosts. */
function isOwn(url: URL, home: URL): boolean {
  if (url.origin === home.origin) return true;
  if (url.protocol !== "https:" || url.port !== home.port) return false;
  const parent = home.hostname.split(".").slice(1).join(".");
  const isName = !/^[\d.]+$/.test(home.hostname) && !home.hostname.startsWith("[");
  return isName && parent.includes(".") && !REGISTRY.test(parent) && url.hostname.endsWith(`.${parent}`);
}

/** A page of a proxy, or a list that was cut off, must not pass for an empty calendar: the client's parser accepts anything. */
function isWholeList({ status }: Response, body: Uint8Array): boolean {
  const end = Buffer.from(body.subarray(-2_000)).toString("latin1");
  return status === 207 && /<\/(?:[\w.-]+:)?multistatus\s*>|<(?:[\w.-]+:)?multistatus\b[^<>]*\/>/.test(end);
}
