import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the package `retinue`, from the sources as from the built program. */
export const PACKAGE_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The version of the package `retinue`. */
export function readVersion(): string {
  return String(JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")).version);
}

function findRoot(from: string): string {
  if (isPackage(join(from, "package.json"))) return from;
  const parent = dirname(from);
  return parent === from ? from : findRoot(parent);
}

function isPackage(manifest: string): boolean {
  try {
    return JSON.parse(readFileSync(manifest, "utf8")).name === "retinue";
  } catch {
    return false;
  }
}
