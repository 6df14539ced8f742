// Runs the tests; `--deep` runs the heavy ones with their full counts, other arguments go to vitest.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = process.argv.slice(2);
const deep = args.includes("--deep");
const rest = args.filter((arg) => arg !== "--deep");
// Servers stand where only an administrator's path leads.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` };
const works = (program, ...more) => spawnSync(program, more, { env }).status === 0;
const NEEDS = [
  [
    "tests of the sandbox, which need Linux with bubblewrap",
    () => works("bwrap", "--ro-bind", "/", "/", "true"),
    "apt install bubblewrap",
  ],
  ["a real run of pytest", () => works("python3", "-m", "pytest", "--version"), "apt install python3-pytest"],
  ["a real run of unittest", () => works("python3", "--version"), "apt install python3"],
  ["a real run of cargo test", () => works("cargo", "--version"), "apt install cargo"],
  ["a mailbox on a real IMAP server", () => works("dovecot", "--version"), "apt install dovecot-imapd"],
  [
    "calendars and contacts on a real DAV server",
    () => works("radicale", "--version"),
    "apt install radicale",
  ],
  ["what a person sees on a terminal", () => works("tmux", "-V"), "apt install tmux"],
  ["completion in a real zsh", () => works("zsh", "--version"), "apt install zsh"],
  ["completion in a real fish", () => works("fish", "--version"), "apt install fish"],
  [
    "pages in a real browser",
    () => works("chromium-headless-shell", "--version") || works("chromium", "--version"),
    "apt install chromium-headless-shell",
  ],
];
// Thousands of small projects and databases are made and removed: in memory, where there is enough of it.
const temporary = mkdtempSync(join(hasRoomInMemory() ? "/dev/shm" : tmpdir(), "retinue-test-"));
// Servers that tests start run as users of their own.
chmodSync(temporary, 0o755);
// Ctrl-C ends the tests; what follows still happens.
process.on("SIGINT", () => {});
const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...rest],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TMPDIR: temporary, ...(deep && { RETINUE_DEEP: "1" }) },
  },
);
// Interrupted tests may still be writing for a moment.
rmSync(temporary, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
if (process.env.RETINUE_NO_SKIP !== "1") {
  for (const [what, isThere, remedy] of NEEDS) if (!isThere()) console.error(`skipped: ${what} (${remedy})`);
}
process.exit(status ?? 1);

function hasRoomInMemory() {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize > 4 * 1024 ** 3;
  } catch {
    return false;
  }
}
