import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tryTo } from "../schema/error.ts";

/** The folder of the package `retinue`, from the sources as from the built program. */
export const PACKAGE_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The version of the package `retinue`. */
export function readVersion(): string {
  return String(JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")).version);
}

function findRoot(from: string): string {
  const name = tryTo(() => JSON.parse(readFileSync(join(from, "package.json"), "utf8")).name);
  if (name === "retinue") return from;
  const parent = dirname(from);
  return parent === from ? from : findRoot(parent);
}
