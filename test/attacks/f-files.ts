import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  constants,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { codeTools } from "@retinue/code/code-tools";
import { callTools, say } from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect } from "vitest";
import { type Attack, type Outcome, resultsSeen, type World } from "./attack.ts";

/** Why no guard of a run can be switched off to let these attacks through. */
const PATHS = "the tools open paths only below their roots, whatever a rule says";

const done = say("done");
const CANARY = "canary-7f3a-of-a-file-outside";

/** The file tools; in a broken world, ones that open whatever they are told to, as plain programs do. */
function fileTools(world: World): readonly AnyTool[] {
  if (!world.broken) return codeTools;
  const at = (path: string) => resolve(world.projectDir, path);
  return [
    defineTool<{ path: string }>({
      name: "read",
      description: "Reads.",
      input: { type: "object" },
      execute: async ({ path }) => {
        const handle = await open(at(path), constants.O_RDONLY | constants.O_NONBLOCK);
        const { buffer, bytesRead } = await handle
          .read(Buffer.alloc(100_000), 0, 100_000)
          .finally(() => handle.close());
        return buffer.subarray(0, bytesRead).toString("latin1");
      },
    }),
    defineTool<{ path: string; content: string }>({
      name: "write",
      description: "Writes.",
      input: { type: "object" },
      execute: async ({ path, content }) => {
        await writeFile(at(path), content);
        return "written";
      },
    }),
    defineTool<{ path: string }>({
      name: "ls",
      description: "Lists.",
      input: { type: "object" },
      execute: async ({ path }) => (await readdir(at(path))).join("\n"),
    }),
  ];
}

/** Reads each path and writes to each. */
function tryAll(paths: readonly string[], tools: readonly string[] = ["read", "write"]) {
  return callTools(
    paths.flatMap((path) =>
      tools.map((tool) => ({ tool, input: tool === "write" ? { path, content: "evil" } : { path } })),
    ),
  );
}

function fingerprint(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const hash = createHash("sha256");
  for (const name of names) {
    const stats = statSync(join(folder, name));
    hash.update(`${name} ${stats.mode} ${stats.isFile() ? readFileSync(join(folder, name), "utf8") : ""}\n`);
  }
  return hash.digest("hex");
}

/** An outside folder with a secret in it, whose state before is kept. */
function withOutside(world: World): void {
  writeFileSync(join(world.outsideDir, "secret.txt"), CANARY);
  world.seen.push(fingerprint(world.outsideDir));
}

/** Nothing outside was changed, nothing of it was seen, and every call was answered with an error. */
function expectNothingOutside({ world, t }: Outcome): void {
  expect(fingerprint(world.outsideDir)).toBe(world.seen[0]);
  const results = resultsSeen(t, "lead");
  expect(results.length).toBeGreaterThan(0);
  expect(results.map((result) => result.text).join("\n")).not.toContain(CANARY);
  expect(results.filter((result) => !result.isError)).toEqual([]);
}

const MANY = { lead: { limits: { toolCalls: 500 } } };

/** Swaps a folder for a link to the outside and back, as fast as it can, until it is told to stop. */
const SWAPPER = `
const { renameSync } = require("node:fs");
const { workerData: { a, link, real, flag } } = require("node:worker_threads");
const stop = new Int32Array(flag);
while (Atomics.load(stop, 0) === 0) {
  try { renameSync(a, real); renameSync(link, a); } catch {}
  try { renameSync(a, link); renameSync(real, a); } catch {}
  Atomics.add(stop, 1, 1);
  Atomics.notify(stop, 1);
}`;

/** Paths that lead out of the project. */
export const F_CASES: readonly Attack[] = [
  {
    id: "F1",
    title: "no spelling of a path leads out of the project",
    noGuard: PATHS,
    setup: (world) => {
      withOutside(world);
      return { tools: fileTools(world), agents: MANY };
    },
    turns: ({ outsideDir }) => ({
      lead: [
        tryAll([
          "../outside/secret.txt",
          "../outside/../outside/secret.txt",
          "./a/../../outside/secret.txt",
          "workspace:../../../outside/secret.txt",
          "project:../outside/secret.txt",
          join(outsideDir, "secret.txt"),
          `//${outsideDir}/secret.txt`,
          `/proc/self/root${outsideDir}/secret.txt`,
          `/proc/self/cwd/../${outsideDir}/secret.txt`,
        ]),
        done,
      ],
    }),
    oracle: expectNothingOutside,
  },
  {
    id: "F1b",
    title: "encoded dots, backslashes and a home are names like others or refused",
    noGuard: PATHS,
    setup: (world) => {
      withOutside(world);
      if (world.broken) writeFileSync(join(world.outsideDir, "new.txt"), "made by the broken world");
      return { tools: fileTools(world), agents: MANY };
    },
    turns: () => ({
      lead: [
        tryAll(
          [
            "%2e%2e/outside/secret.txt",
            "..%2foutside%2fsecret.txt",
            "..%252foutside/secret.txt",
            "..\\outside\\secret.txt",
            "\u2024\u2024/outside/secret.txt",
            "..\u2215outside/secret.txt",
            "file:///etc/passwd",
            "~/.ssh/id_rsa",
            "~root/.ssh/id_rsa",
            "$HOME/.ssh/id_rsa",
          ],
          ["read"],
        ),
        done,
      ],
    }),
    oracle: expectNothingOutside,
  },
  {
    id: "F2",
    title: "a link is judged on what it leads to, as the last part, in the middle and dangling",
    noGuard: PATHS,
    setup: (world) => {
      withOutside(world);
      const { projectDir, outsideDir } = world;
      symlinkSync(join(outsideDir, "secret.txt"), join(projectDir, "final.txt"));
      symlinkSync(outsideDir, join(projectDir, "middle"));
      symlinkSync(join(outsideDir, "new.txt"), join(projectDir, "dangling.txt"));
      symlinkSync("middle/secret.txt", join(projectDir, "twice.txt"));
      return { tools: fileTools(world), agents: MANY };
    },
    turns: () => ({
      lead: [
        tryAll(["final.txt", "middle/secret.txt", "middle/new.txt", "dangling.txt", "twice.txt", "middle"]),
        done,
      ],
    }),
    oracle: expectNothingOutside,
  },
  {
    id: "F2b",
    title: "a link inside the project does not lead around a deny",
    guards: ["decide"],
    setup: (world) => {
      mkdirSync(join(world.projectDir, "secrets"));
      writeFileSync(join(world.projectDir, "secrets/key"), CANARY);
      symlinkSync("secrets/key", join(world.projectDir, "harmless"));
      symlinkSync("secrets", join(world.projectDir, "folder"));
      const deny = { disallowedTools: ["read(secrets/**)"], limits: { toolCalls: 500 } };
      return { tools: fileTools(world), agents: { lead: deny } };
    },
    turns: () => ({ lead: [tryAll(["harmless", "folder/key", "./folder/../secrets/key"], ["read"]), done] }),
    oracle: ({ t }) => {
      const results = resultsSeen(t, "lead");
      expect(results.map((result) => result.text).join("\n")).not.toContain(CANARY);
      expect(results.filter((result) => !result.isError)).toEqual([]);
    },
  },
  {
    id: "F3",
    title: "a folder that is swapped for a link while it is written to lets nothing out",
    noGuard: PATHS,
    setup: (world) => {
      const { projectDir, outsideDir } = world;
      const paths = { a: join(projectDir, "a"), link: join(projectDir, "l"), real: join(projectDir, "r") };
      mkdirSync(paths.a);
      symlinkSync(outsideDir, paths.link);
      const flag = new SharedArrayBuffer(8);
      const worker = new Worker(SWAPPER, { eval: true, workerData: { ...paths, flag } });
      world.atEnd(async () => {
        Atomics.store(new Int32Array(flag), 0, 1);
        await worker.terminate();
      });
      // Nothing is written before the swapping has begun.
      Atomics.wait(new Int32Array(flag), 1, 0);
      return { tools: fileTools(world), agents: MANY };
    },
    turns: () => ({
      lead: [
        ...Array.from({ length: 8 }, (_, round) =>
          callTools(
            Array.from({ length: 40 }, (_, index) => ({
              tool: "write",
              input: { path: `a/file-${round}-${index}`, content: "evil" },
            })),
          ),
        ),
        done,
      ],
    }),
    oracle: ({ world }) => expect(readdirSync(world.outsideDir)).toEqual([]),
  },
  {
    id: "F4",
    title: "a hard link to a file outside is neither read nor written",
    noGuard: PATHS,
    setup: (world) => {
      withOutside(world);
      linkSync(join(world.outsideDir, "secret.txt"), join(world.projectDir, "mine.txt"));
      return { tools: fileTools(world), agents: MANY };
    },
    turns: () => ({ lead: [tryAll(["mine.txt"]), done] }),
    oracle: expectNothingOutside,
  },
  {
    id: "F5",
    title: "the process's own files are closed, by name and by link",
    noGuard: PATHS,
    setup: (world) => {
      withOutside(world);
      symlinkSync("/proc/self/environ", join(world.projectDir, "environ"));
      symlinkSync("/proc/self", join(world.projectDir, "self"));
      return { tools: fileTools(world), agents: MANY };
    },
    turns: () => ({
      lead: [
        tryAll(
          [
            "/proc/self/environ",
            "/proc/self/maps",
            "/proc/1/environ",
            "environ",
            "self/environ",
            "self/status",
          ],
          ["read"],
        ),
        done,
      ],
    }),
    oracle: expectNothingOutside,
  },
  {
    id: "F6",
    title: "pipes, devices and huge files are refused and nothing hangs",
    noGuard: PATHS,
    setup: (world) => {
      withOutside(world);
      execFileSync("mkfifo", [join(world.projectDir, "pipe")]);
      symlinkSync("/dev/zero", join(world.projectDir, "zero"));
      writeFileSync(join(world.projectDir, "sparse"), "");
      truncateSync(join(world.projectDir, "sparse"), 10 * 1024 ** 3);
      return { tools: fileTools(world), agents: MANY };
    },
    turns: () => ({ lead: [tryAll(["pipe", "zero", "sparse", "/dev/zero", "/dev/stdin"], ["read"]), done] }),
    oracle: expectNothingOutside,
  },
  {
    id: "F7",
    title: "a deny holds for every spelling of its file",
    guards: ["decide"],
    setup: (world) => {
      for (const folder of ["secrets", "Secrets", "cafe\u0301"]) {
        mkdirSync(join(world.projectDir, folder), { recursive: true });
        writeFileSync(join(world.projectDir, folder, "key"), CANARY);
      }
      const disallowedTools = ["read(secrets/**)", "read(caf\u00e9/**)"];
      return { tools: fileTools(world), agents: { lead: { disallowedTools, limits: { toolCalls: 500 } } } };
    },
    turns: () => ({
      lead: [
        tryAll(
          [
            "secrets/key",
            "secrets//key",
            "secrets/./key",
            "secrets/key/",
            "secrets/key\0",
            "secrets/key\0.txt",
            "secrets/key.",
            "secrets./key",
            "Secrets/key",
            "SECRETS/KEY",
            "cafe\u0301/key",
            "caf\u00e9/key",
          ],
          ["read"],
        ),
        done,
      ],
    }),
    oracle: ({ t }) => {
      const results = resultsSeen(t, "lead");
      expect(results.map((result) => result.text).join("\n")).not.toContain(CANARY);
      expect(results.filter((result) => !result.isError)).toEqual([]);
    },
  },
  {
    id: "F10",
    title: "who may write tests writes nothing else",
    guards: ["decide"],
    setup: () => ({
      tools: codeTools,
      agents: { lead: { tools: ["write(test/**)", "write(**/*.test.ts)"], limits: { toolCalls: 500 } } },
    }),
    turns: () => ({
      lead: [
        tryAll(
          ["src/index.ts", "test/../src/index.ts", "package.json", "tests.ts", "src/a.test.ts/../b.ts"],
          ["write"],
        ),
        tryAll(["test/a.ts", "src/a.test.ts"], ["write"]),
        done,
      ],
    }),
    oracle: ({ world }) => {
      const files = readdirSync(world.projectDir, { recursive: true, encoding: "utf8", withFileTypes: true });
      const names = files.filter((entry) => entry.isFile()).map((entry) => entry.name);
      expect(names.toSorted()).toEqual(["a.test.ts", "a.ts"]);
    },
  },
  {
    id: "F13",
    title: "a deny with a trailing slash holds for what is made later",
    guards: ["decide"],
    setup: () => ({
      tools: codeTools,
      agents: { lead: { disallowedTools: ["write(build/)"], limits: { toolCalls: 500 } } },
    }),
    turns: () => ({
      lead: [
        tryAll(["build/out.js", "build/deep/out.js"], ["write"]),
        tryAll(["other.txt"], ["write"]),
        done,
      ],
    }),
    oracle: ({ world }) => expect(readdirSync(world.projectDir)).toEqual(["other.txt"]),
  },
];
