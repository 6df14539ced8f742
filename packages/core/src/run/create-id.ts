import { randomBytes } from "node:crypto";

const POOL_BYTES = 4096;
const ID_BYTES = 9;
let pool = randomBytes(0);
let used = 0;

/** A new id such as `run_3kTq…`; random bytes are drawn in bulk because thousands of runs need them. */
export function createId(prefix: string): string {
  if (used + ID_BYTES > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  const id = pool
    .toString("base64url", used, used + ID_BYTES)
    .replaceAll("-", "x")
    .replaceAll("_", "y");
  used += ID_BYTES;
  return `${prefix}_${id}`;
}
