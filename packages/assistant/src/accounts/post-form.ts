// Asks a service with a form, as a sign-in does.

import { RetinueError } from "@retinue/core/schema/error";
import { fetchWhole, isJsonObject, isSafeUrl, type JsonObject } from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";

const PATIENCE_MS = 30_000;
const MAX_BYTES = 200_000;

/** What a service answered to a form. */
export type FormAnswer = {
  readonly ok: boolean;
  readonly headers: Headers;
  readonly value: JsonObject;
};

/**
 * Posts a form and reads the JSON that comes back. It goes over TLS, or stays on this machine, and follows no redirect.
 * Errors name the place and never what was sent or answered.
 */
export async function postForm(
  url: string,
  form: Readonly<Record<string, string>>,
  { token, signal }: { token?: string; signal: AbortSignal },
): Promise<FormAnswer> {
  const host = refusePlain(url);
  const headers = {
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const init = { method: "POST", body: new URLSearchParams(form), headers, redirect: "error" } as const;
  const bounds = { signal, timeoutMs: PATIENCE_MS, maxBytes: MAX_BYTES, service: host, about: "the sign-in" };
  try {
    const { response, body } = await fetchWhole(url, init, bounds);
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (isJsonObject(value)) return { ok: response.ok, headers: response.headers, value };
  } catch (thrown) {
    // The parser's own words would quote the answer.
    const why = thrown instanceof ToolFault ? thrown.message : "its answer is not JSON";
    throw new RetinueError("failed", `${host} cannot be asked: ${why}`, "check the network, and try again");
  }
  throw new RetinueError("failed", `${host} gave an answer that is not understood`);
}

/** Refuses an address where a secret would go over the network in the clear; gives its host. */
export function refusePlain(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed || (parsed.protocol !== "https:" && parsed.protocol !== "http:"))
    throw new RetinueError(
      "input",
      `'${url}' is not a web address`,
      "write it like https://dav.example.org/",
    );
  if (parsed.username || parsed.password)
    throw new RetinueError(
      "input",
      "an address with a password in it is refused",
      "give the password by itself",
    );
  if (isSafeUrl(parsed)) return parsed.host;
  throw new RetinueError("input", `secrets would go to ${parsed.host} in the clear`, "use its https address");
}
