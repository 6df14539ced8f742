import { defineRoute, type Route } from "../api/route.ts";
import { shape, text } from "../api/shapes.ts";
import type { Guard } from "./create-guard.ts";

/** The route by which somebody who is in makes a link for another browser. */
export function createLinkRoute(guard: Pick<Guard, "link">): Route {
  return defineRoute({
    method: "post",
    path: "/api/links",
    summary: "Makes a link that lets one browser in, once and within ten minutes.",
    answer: shape({ url: text }),
    handle: () => ({ url: guard.link() }),
  });
}
