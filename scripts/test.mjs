// Runs the tests; `--deep` runs the heavy ones with their full counts, other arguments go to vitest.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const deep = args.includes("--deep");
const rest = args.filter((arg) => arg !== "--deep");
const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...rest],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...(deep && { RETINUE_DEEP: "1" }) },
  },
);
if (!["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"].some((path) => existsSync(path)))
  console.error(
    "tests of the sandbox were skipped: they need Linux with bubblewrap (apt install bubblewrap)",
  );
process.exit(status ?? 1);
