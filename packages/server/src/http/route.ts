import type { JsonSchema } from "@retinue/core/schema/json-schema";
import type { ServerDesk } from "../desk.ts";

/** One request after its parts were checked against the route's schemas. */
export type RouteRequest<Query = Record<string, string>, Body = undefined> = {
  /** Parts of the path by their names. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Fires when the client has gone away. */
  readonly signal: AbortSignal;
  readonly headers: Headers;
};

/**
 * One operation of the API. Its schemas check what comes in, describe it in the OpenAPI document, and tests compare every
 * answer with them. A handler gives JSON as a value, or a Response for everything else; it throws a RetinueError for
 * what a person must fix.
 */
export type ApiRoute = {
  readonly method: "get" | "post" | "put" | "delete";
  /** With `:name` for its parts, such as `/api/sessions/:id`. */
  readonly path: string;
  /** One line for the document. */
  readonly summary: string;
  /** An object schema of strings; numbers are given as strings that fit a pattern. */
  readonly query?: JsonSchema;
  readonly body?: JsonSchema;
  /** What it answers with; absent for a Response of another kind, which `answers` names. */
  readonly answer?: JsonSchema;
  /** Media type of an answer that is not JSON. */
  readonly answers?: string;
  readonly handle: (request: RouteRequest<never, never>, desk: ServerDesk) => unknown;
};

/** What `defineRoute` takes: a route whose handler knows the types of its query and body. */
type RouteDefinition<Query, Body> = Omit<ApiRoute, "handle"> & {
  readonly handle: (request: RouteRequest<Query, Body>, desk: ServerDesk) => unknown;
};

/** Types a route. The schemas must say what `Query` and `Body` say. */
export function defineRoute<Query = Record<string, string>, Body = undefined>(
  route: RouteDefinition<Query, Body>,
): ApiRoute {
  return route;
}
