import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { write } from "@retinue/code/file-tools/write-tools";
import { expect } from "vitest";
import { type Attack, expectSettled } from "./attack.ts";
import { commands, guarded, harmless, said, shellOf } from "./shells.ts";

/** Why no guard of a run can be switched off to let these attacks through. */
const SANDBOX = "the shell's sandbox is the boundary, below every guard of a run";

/** Ids of processes that run with this argument. */
function processesWith(argument: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
      } catch {
        return false;
      }
    });
}

/** Seconds to sleep, as no other process says them; where nothing stops the sleepers, they end by themselves. */
const napOf = (broken: boolean) => `${broken ? 10 : 987654321}.${process.pid}`;

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}

/** Attacks by how much a command takes: processes, output, disk, time. */
export const SHELL_LIMIT_CASES: readonly Attack[] = [
  {
    id: "S4",
    title: "setsid, a double fork and nohup leave no process behind",
    needs: "bubblewrap",
    noGuard: SANDBOX,
    setup: (world) => ({ tools: [shellOf(world)] }),
    turns: ({ broken }) => {
      const nap = `sleep ${napOf(broken)} >/dev/null 2>&1`;
      const many = `n=0; while [ $n -lt 100 ]; do setsid ${nap} & n=$((n+1)); done`;
      return commands(`${many}; (setsid ${nap} &); nohup ${nap} & echo started`);
    },
    oracle: (outcome) => {
      const left = processesWith(napOf(outcome.world.broken));
      for (const pid of left) process.kill(pid, "SIGKILL");
      expect(said(outcome)).toContain("started");
      expect(left).toEqual([]);
    },
  },
  {
    id: "S5",
    title: "a fork bomb ends at the limit on processes",
    needs: "bubblewrap",
    noGuard: SANDBOX,
    setup: (world) => ({ tools: [guarded(world, { pids: world.broken ? 5_000 : 40 })] }),
    turns: () => commands("sh -c 'n=0; while [ $n -lt 300 ]; do sleep 600 & n=$((n+1)); echo made $n; done'"),
    oracle: (outcome) => {
      expect(said(outcome)).toContain("made 20\n");
      expect(said(outcome)).not.toContain("made 100\n");
    },
  },
  {
    id: "S6",
    title: "gigabytes of output are cut off, and escape codes do not come through",
    needs: "bubblewrap",
    noGuard: "the shell bounds and cleans its output itself",
    setup: (world) => ({ tools: [shellOf(world)] }),
    turns: ({ broken }) =>
      commands(
        `yes | head -c ${broken ? 70_000_000 : 10_000_000_000}`,
        "printf '\\033]0;title\\007\\033[2J\\033[31mred\\033[0m\\a\\b\\r\\000'; printf '\\302\\233[31m\\342\\200\\256'",
      ),
    oracle: async (outcome) => {
      const text = JSON.stringify(
        await outcome.t.runtime.record.readRows({ sessionId: outcome.result.session_id }),
      );
      expect(text.length).toBeLessThan(10_000_000);
      expect(sizeOf(outcome.world.dataDir)).toBeLessThan(20_000_000);
      expect(said(outcome)).not.toMatch(/[^\P{Cc}\n\t]|\u202e/u);
      expect(said(outcome)).toContain("red");
    },
  },
  {
    id: "S7",
    slow: true,
    title: "a command that fills the disk is stopped, and the record goes on",
    needs: "bubblewrap",
    noGuard: SANDBOX,
    setup: (world) => ({
      tools: [write, guarded(world, { diskMb: world.broken ? 100_000 : 60, memoryMb: 128 })],
      database: join(world.dataDir, "retinue.db"),
    }),
    turns: (world) =>
      harmless(
        world,
        "for i in $(seq 50); do head -c 10M /dev/zero > part$i; sleep 0.05; done",
        "head -c 400M /dev/zero > whole",
        "head -c 4G /dev/zero > /tmp/x; head -c 4G /dev/zero > ~/x; echo still here",
      ),
    oracle: async (outcome) => {
      expect(sizeOf(outcome.world.projectDir)).toBeLessThan(400_000_000);
      expect(said(outcome)).toContain("still here");
      expect(outcome.result.status).toBe("completed");
      await expectSettled(outcome.t);
    },
  },
  {
    id: "S8",
    slow: true,
    title: "a command that waits for input gets none",
    needs: "bubblewrap",
    noGuard: "the shell closes the input of its commands itself",
    setup: (world) => ({ tools: [shellOf(world)] }),
    turns: () =>
      commands("cat; read -r line; python3 -c 'input()'; exec 5</dev/tty && read line <&5; echo went on"),
    oracle: (outcome) => expect(said(outcome)).toContain("went on"),
  },
];
