import type { Route } from "./route.ts";

/** The methods that a path of the API can be asked with; none if there is no such path. */
export function findMethods(routes: readonly Route[], path: string): string[] {
  const asked = path.split("/");
  return routes
    .filter((route) => fits(route.path.split("/"), asked))
    .map(({ method }) => method.toUpperCase());
}

function fits(parts: readonly string[], asked: readonly string[]): boolean {
  if (parts.length !== asked.length) return false;
  return parts.every((part, index) => (part.startsWith(":") ? asked[index] !== "" : part === asked[index]));
}
