import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";

const source = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);

/** Opens a journal, asks for a look through the folders, and is killed before it can read the answer. */
const KILLED = `
import { openJournal } from ${source("./command-journal.ts")};
import { createHolder } from ${source("./hold-places.ts")};
const [, dataDir, root] = process.argv;
const journal = openJournal(dataDir, { holder: createHolder(), roots: [root], held: [] });
journal.scan();
process.kill(process.pid, "SIGKILL");
`;

test("a command whose process is killed while folders are looked through is settled all the same", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-journal-"));
  const projectDir = join(root, "project");
  mkdirSync(projectDir);
  const { signal, stderr } = spawnSync(
    process.execPath,
    ["--conditions=retinue-source", "--input-type=module", "--eval", KILLED, root, projectDir],
    { encoding: "utf8" },
  );
  expect([signal, stderr]).toEqual(["SIGKILL", ""]);
  expect(existsSync(join(root, "commands"))).toBe(true);
  await vi.waitFor(() => expect(readdirSync(join(root, "commands"))).toEqual([]), 30_000);
  rmSync(root, { recursive: true });
});
