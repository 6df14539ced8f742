import type { JsonSchema } from "@retinue/core/schema/json-schema";
import type { Shape } from "@retinue/core/schema/shape";
import type { ServerDesk } from "../desk.ts";

/** One request after its parts were checked against the route's shapes. */
export type RouteRequest<Query, Body, Params extends string = string> = {
  /** Parts of the path by their names. */
  readonly params: Readonly<Record<Params, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Fires when the client has gone away. */
  readonly signal: AbortSignal;
  readonly headers: Headers;
};

/** One operation of the API as the server calls and describes it. */
export type ApiRoute = {
  readonly method: "get" | "post" | "put" | "delete";
  /** With `:name` for its parts, such as `/api/sessions/:id`. */
  readonly path: string;
  /** One line for the document. */
  readonly summary: string;
  /** An object of texts; numbers are given as texts that fit a pattern. */
  readonly query?: JsonSchema;
  readonly body?: JsonSchema;
  /** What it answers with; absent for a Response of another kind, which `answers` names. */
  readonly answer?: JsonSchema;
  /** Media type of an answer that is not JSON. */
  readonly answers?: string;
  readonly handle: (request: RouteRequest<never, never>, desk: ServerDesk) => unknown;
};

/** The names in a path: `id` of `/api/sessions/:id`. */
type ParamsIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** What `defineRoute` takes: the shapes of a route say what its handler is given and must answer with. */
type RouteDefinition<Path extends string, Query, Body, Answer> = Omit<
  ApiRoute,
  "path" | "query" | "body" | "answer" | "handle"
> & {
  readonly path: Path;
  readonly query?: Shape<Query>;
  readonly body?: Shape<Body>;
  readonly answer?: Shape<Answer>;
  readonly handle: (
    request: RouteRequest<Query, Body, ParamsIn<Path>>,
    desk: ServerDesk,
  ) => NoInfer<Answer> | Promise<NoInfer<Answer>>;
};

/**
 * Defines one operation of the API. Its shapes check what comes in, describe it in the OpenAPI document, and type the
 * handler; tests compare every answer with them. A handler gives JSON as a value, or a Response for everything else; it
 * throws a RetinueError for what a person must fix.
 */
export function defineRoute<
  const Path extends string,
  Query = Record<string, string>,
  Body = undefined,
  Answer = Response,
>(route: RouteDefinition<Path, Query, Body, Answer>): ApiRoute {
  return route;
}
