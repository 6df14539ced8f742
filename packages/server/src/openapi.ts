import { ApiError } from "@retinue/core/schema/api/inspect";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import { declared } from "@retinue/core/schema/shape";
import { type ApiRoute, defineRoute } from "./http/route.ts";

const REFUSALS: Readonly<Record<string, string>> = {
  "400": "The request cannot be read, or its parts do not fit.",
  "401": "Neither a cookie nor the bearer key of this server.",
  "403": "Asked by another page or under another name, or denied.",
  "404": "It is not there.",
  "409": "It changed in the meantime, or cannot be done now.",
  "413": "The body is too large.",
  "415": "The body is not JSON.",
  "422": "Understood, but something named in it is wrong.",
  "429": "Too many at once; Retry-After says when to try again.",
  "500": "A defect of the server.",
};

/** The API as an OpenAPI 3.1 document. */
export function describeApi(routes: readonly ApiRoute[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: describeOperation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Retinue",
      version,
      description: "What the web app of Retinue is made with. The server listens on this machine only.",
    },
    servers: [{ url: "/" }],
    security: [{ cookie: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: { ApiError },
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [`Refused${status}`, refusal(description)]),
      ),
      securitySchemes: {
        cookie: {
          type: "apiKey",
          in: "cookie",
          name: "retinue_PORT",
          description: "Set when a one-time link is opened; PORT is the one the server listens on.",
        },
        bearer: { type: "http", scheme: "bearer", description: "For programs of the same user." },
      },
    },
  };
}

/** The route that gives the document; it describes itself, too. */
export function createOpenApiRoute(routes: readonly ApiRoute[], version: string): ApiRoute {
  const route: ApiRoute = defineRoute({
    method: "get",
    path: "/api/openapi.json",
    summary: "This document.",
    answer: declared<object>(),
    handle: () => describeApi([...routes, route], version),
  });
  return route;
}

function describeOperation(route: ApiRoute): Record<string, unknown> {
  const { method, path, summary, query, body, answer, answers = "application/json" } = route;
  const params = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1 },
  }));
  const content = { [answers]: { schema: answer ?? {} } };
  return {
    operationId: nameOperation(method, path),
    summary,
    parameters: [...params, ...queryParameters(query)],
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    responses: {
      "200": { description: summary, content },
      ...Object.fromEntries(
        Object.keys(REFUSALS).map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
      ),
    },
  };
}

function queryParameters(query: JsonSchema | undefined): object[] {
  const { properties, required } = query ?? {};
  if (typeof properties !== "object" || properties === null) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: needed.includes(name),
    schema,
  }));
}

function nameOperation(method: string, path: string): string {
  const words = path.split("/").filter((part) => part !== "" && part !== "api");
  return [method, ...words.map((word) => word.replaceAll(/\W/g, "_").replace(/^_/, "by_"))].join("_");
}

function refusal(description: string): object {
  const content = { "application/json": { schema: { $ref: "#/components/schemas/ApiError" } } };
  return { description, content };
}
