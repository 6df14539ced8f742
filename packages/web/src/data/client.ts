import type { ApiError } from "@retinue/core/schema/api/inspect";

/** A request that the server refused, or that did not reach it (`status` 0). */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;

  constructor(status: number, { code, message, hint }: ApiError["error"]) {
    super(message);
    this.name = "ApiFailure";
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

async function send<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
  const early = method === "GET" ? takeEarly(path) : undefined;
  const request = {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
  };
  const response = await (early ?? fetch(path, request)).catch(() => {
    throw new ApiFailure(0, {
      code: "unreachable",
      message: "The server does not answer.",
      hint: "It may be restarting. If it was stopped, start it again with: retinue serve",
    });
  });
  if (response.ok) return (await response.json()) as Answer;
  throw new ApiFailure(response.status, await readError(response));
}

async function readError(response: Response): Promise<ApiError["error"]> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as Partial<ApiError>;
    if (error) return error;
  } catch {
    // What is no JSON says no more than its status.
  }
  return { code: "failed", message: `The server answered with ${response.status}.`, hint: null };
}

/** Talks to the server of this page; a refusal is thrown as an ApiFailure. */
export const api = {
  get: <Answer>(path: string) => send<Answer>("GET", path),
  post: <Answer>(path: string, body: unknown = {}) => send<Answer>("POST", path, body),
  put: <Answer>(path: string, body: unknown) => send<Answer>("PUT", path, body),
  delete: <Answer>(path: string, body?: unknown) => send<Answer>("DELETE", path, body),
};

/** A name as a part of an address. Half a character, which a name of the record may have, has no place in any. */
export function encodePart(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}

/** A path with its query; what is undefined or empty is left out. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${encodePart(String(value))}`],
  );
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

/** The pages of a list, one after the other; each says where the next one begins. */
export async function* walkPages<Page extends { next: string | number | null }>(
  path: string,
  query: Readonly<Record<string, string | number>> = {},
): AsyncGenerator<Page> {
  let after: string | number | undefined;
  do {
    const page: Page = await api.get(withQuery(path, { ...query, after }));
    yield page;
    after = page.next ?? undefined;
  } while (after !== undefined);
}

declare global {
  /** What the head of the page has asked for already (`begin.js`). */
  var retinueEarly: { path: string; answer: Promise<Response> } | undefined;
}

/** The answer that is on its way already, for the first who asks. */
function takeEarly(path: string): Promise<Response> | undefined {
  const early = globalThis.retinueEarly;
  if (early?.path !== path) return undefined;
  globalThis.retinueEarly = undefined;
  return early.answer;
}

/** What the page's policy asks of style elements that are made by libraries. */
export function cspNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}
