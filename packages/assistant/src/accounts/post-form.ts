import { RetinueError } from "@retinue/core/schema/error";
import { isJsonObject, isLoopback, type JsonObject } from "../service-tools/service-answers.ts";

const PATIENCE_MS = 30_000;
const MAX_CHARS = 200_000;

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
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(form),
      headers: {
        accept: "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    const text = await response.text();
    const value: unknown = text.length > MAX_CHARS ? null : JSON.parse(text);
    if (isJsonObject(value)) return { ok: response.ok, headers: response.headers, value };
  } catch (thrown) {
    const why = thrown instanceof SyntaxError ? "its answer is no JSON" : explainFailure(thrown);
    throw new RetinueError("failed", `${host} cannot be asked: ${why}`, "check the network, and try again");
  }
  throw new RetinueError("failed", `${host} gave an answer that is not understood`);
}

/** Refuses an address where a secret would go over the network in the clear; gives its host. */
export function refusePlain(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed || (parsed.protocol !== "https:" && parsed.protocol !== "http:"))
    throw new RetinueError("input", `'${url}' is no web address`, "write it like https://dav.example.org/");
  if (parsed.username || parsed.password)
    throw new RetinueError(
      "input",
      "an address with a password in it is refused",
      "give the password by itself",
    );
  if (parsed.protocol === "https:" || isLoopback(parsed.hostname)) return parsed.host;
  throw new RetinueError("input", `secrets would go to ${parsed.host} in the clear`, "use its https address");
}

function explainFailure(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  return thrown instanceof Error ? thrown.name : "it failed";
}
