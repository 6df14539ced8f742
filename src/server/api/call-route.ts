import { checkJson } from "../../schema/check-json.ts";
import type { Desk } from "../desk.ts";
import { answerError } from "./answer-error.ts";
import { type Arrived, readRequest } from "./read-request.ts";
import type { Route } from "./route.ts";

/** What a route is called with. */
export type RouteCall = {
  readonly route: Route;
  readonly arrived: Arrived;
  readonly desk: Desk;
  /** Holds the answer against the route's schema, which only tests do. */
  readonly checkAnswers: boolean;
};

/** Reads the request, has the route handle it, and gives its answer. Throws what the route throws. */
export async function callRoute({ route, arrived, desk, checkAnswers }: RouteCall): Promise<Response> {
  const request = await readRequest(route, arrived);
  const value = await route.handle(request, desk);
  if (value instanceof Response) return value;
  const text = JSON.stringify(value ?? null);
  const faults = checkAnswers && route.answer ? await checkJson(route.answer, JSON.parse(text)) : [];
  if (faults.length > 0) {
    const message = `${route.method} ${route.path} answers what its schema does not say: ${faults.join("; ")}`;
    return answerError(500, { code: "answer", message, hint: "mend the route or its schema" });
  }
  return new Response(text, { headers: { "content-type": "application/json; charset=utf-8" } });
}
