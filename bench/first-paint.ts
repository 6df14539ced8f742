// How long `retinue` takes from its start to the first frame on a terminal, against plain Node's own start.
// Needs util-linux's `script` for the terminal. Reports; nothing is asserted.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROUNDS = process.argv.includes("--quick") ? 3 : 15;
const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const home = mkdtempSync(join(os.tmpdir(), "retinue-paint-"));
const env = {
  PATH: process.env.PATH ?? "",
  HOME: home,
  RETINUE_HOME: home,
  RETINUE_DISCOVER: "0",
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
};
/** What the status line says while everything else is loaded, and once it is. */
const PAINTED = "loading…";
const READY = "main ·";

/** Milliseconds from the start to each mark on the terminal; the program is ended after the last one. */
function untilShown(command: string, marks: readonly string[]): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const size = "stty cols 80 rows 24 2>/dev/null; exec";
    const child = spawn("script", ["-qec", `${size} ${command}`, "/dev/null"], { env, cwd: home });
    const seen: number[] = [];
    let output = "";
    child.on("error", reject);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      while (seen.length < marks.length && output.includes(marks[seen.length] ?? ""))
        seen.push(performance.now() - begun);
      if (seen.length === marks.length) child.kill("SIGTERM");
    });
    child.on("close", () =>
      seen.length === marks.length
        ? resolve(seen)
        : reject(new Error(`no ${marks[seen.length]} in: ${output}`)),
    );
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const node: number[] = [];
const painted: number[] = [];
const ready: number[] = [];
try {
  for (let round = 0; round < ROUNDS; round++) {
    const [plain = Number.NaN] = await untilShown(`'${process.execPath}' -e 'console.log("painted")'`, [
      "painted",
    ]);
    const [first = Number.NaN, whole = Number.NaN] = await untilShown(`'${process.execPath}' '${CLI}'`, [
      PAINTED,
      READY,
    ]);
    node.push(plain);
    painted.push(first);
    ready.push(whole);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
const line = (what: string, ms: number) =>
  console.log(
    `${what.padEnd(34)} ${ms.toFixed(0).padStart(5)} ms  ${(ms / median(node)).toFixed(2).padStart(5)} ×`,
  );
console.log(`Node ${process.version}, ${os.cpus().length} cores, median of ${ROUNDS}`);
line("node -e, first line on a terminal", median(node));
line("retinue, first paint", median(painted));
line("retinue, ready for a task", median(ready));
