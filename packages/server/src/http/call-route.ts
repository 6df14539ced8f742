import { checkJson } from "@retinue/core/schema/check-json";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import { shape } from "@retinue/core/schema/shape";
import type { ServerDesk } from "../desk.ts";
import { answerError, BadRequest, NotFound } from "./http-errors.ts";
import type { ApiRoute, RouteRequest } from "./route.ts";

/** What a route is called with: a request whose path has been taken apart. */
type RouteCall = {
  readonly route: ApiRoute;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly maxBodyBytes: number;
  readonly desk: ServerDesk;
  /** Checks the answer by the route's schema, which only tests do. */
  readonly checkAnswers: boolean;
};

/** Reads the request, has the route handle it, and gives its answer. Throws what the route throws. */
export async function callRoute(call: RouteCall): Promise<Response> {
  const { route, desk, checkAnswers } = call;
  const value = await route.handle(await readRequest(call), desk);
  if (value instanceof Response) return value;
  const text = JSON.stringify(value ?? null);
  const faults = checkAnswers && route.answer ? await checkJson(route.answer, JSON.parse(text)) : [];
  if (faults.length > 0) {
    const message = `${route.method} ${route.path} answers what its schema does not say: ${faults.join("; ")}`;
    return answerError(500, { code: "answer", message, hint: "fix the route or its schema" });
  }
  return new Response(text, { headers: { "content-type": "application/json; charset=utf-8" } });
}

const MAX_PART_CHARS = 300;
/** No valid body is nested deeper, and recursive code gets through it without running out of stack. */
const MAX_LEVELS = 100;
const NO_QUERY = shape({});
/** What no name of ours has, and what paths could be made of. */
const ODD = /[\p{Cc}/\\]|^\.{1,2}$/u;

/** Reads the parts of a request, each checked by the route's schemas. */
async function readRequest({
  route,
  request,
  params,
  maxBodyBytes,
}: RouteCall): Promise<RouteRequest<never, never>> {
  for (const part of Object.values(params))
    if (part === "" || part.length > MAX_PART_CHARS || ODD.test(part))
      throw new NotFound("there is nothing of that name");
  const query = readQuery(new URL(request.url));
  await check("the query", route.query ?? NO_QUERY, query);
  const body = route.body && (await readJson(request, maxBodyBytes));
  if (route.body) await check("the body", route.body, body);
  const read: RouteRequest<unknown, unknown> = {
    params,
    query,
    body,
    signal: request.signal,
    headers: request.headers,
  };
  // The schemas have said that it is what the handler was typed with.
  return read as RouteRequest<never, never>;
}

function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of url.searchParams) {
    if (name in query) throw new BadRequest(400, `the query names '${name}' twice`);
    query[name] = value;
  }
  return { ...query };
}

async function check(what: string, schema: JsonSchema, value: unknown): Promise<void> {
  const faults = await checkJson(schema, value);
  if (faults.length === 0) return;
  const hint = "GET /api/openapi.json describes what is taken";
  throw new BadRequest(400, `${what} cannot be used: ${faults.join("; ")}`, { hint });
}

async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw new BadRequest(415, "the body must be JSON", { hint: "send Content-Type: application/json" });
  const bytes = await readBytes(request, maxBytes);
  const value = parseJson(bytes);
  if (countLevels(value) > MAX_LEVELS)
    throw new BadRequest(400, `the body is nested deeper than ${MAX_LEVELS} levels`);
  return value;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new BadRequest(400, "the body is not valid JSON in UTF-8");
  }
}

/** How deep a value is nested, looked at level by level. */
function countLevels(value: unknown): number {
  let level = [value];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_LEVELS) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    depth++;
  }
  return depth;
}

/** Counts what comes, since a length that is told need not be true. */
async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (thrown) {
    // The client has gone away, which is no defect of the server.
    throw thrown instanceof BadRequest ? thrown : new BadRequest(400, "the body broke off");
  }
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): BadRequest {
  const message = `the body is larger than ${maxBytes} bytes`;
  return new BadRequest(413, message, { code: "too_large", headers: { connection: "close" } });
}
