import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { loadProject } from "@retinue/builtin/load-project";
import { openJournal } from "@retinue/code/sandbox/command-journal";
import { createHolder } from "@retinue/code/sandbox/hold-places";
import { registerJournals } from "@retinue/code/sandbox/running-commands";
import { createCommandRunner } from "@retinue/code/shell/run-command";
import { DEFAULT_SHELL } from "@retinue/core/settings/default-settings";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hasSandbox } from "../fixtures/has-sandbox.ts";
import { seeded } from "./attack.ts";

const IS_DEEP = process.env.RETINUE_DEEP === "1";
/** Children, and commands of each. */
type Crowd = readonly [children: number, commands: number];
const SMALL: Crowd = [5, 3];
const CROWD: Crowd = IS_DEEP ? [20, 20] : SMALL;
const [CHILDREN, COMMANDS] = CROWD;
const KILLS = IS_DEEP ? 40 : 1;
const source = (path: string) => JSON.stringify(new URL(`../../packages/${path}`, import.meta.url).href);

/** Children that all run shell commands at once; each command tries to plant something, for a random while. */
const PROCESS = `
import { writeSync } from "node:fs";
import { join } from "node:path";
import { callDelegateMany, callTool, say, testRuntime } from ${source("core/src/testing/index.ts")};
import { createShell } from ${source("code/src/shell/shell.ts")};
import { DEFAULT_SHELL } from ${source("core/src/settings/default-settings.ts")};
import { write } from ${source("code/src/file-tools/write-tools.ts")};
import { seeded } from ${JSON.stringify(new URL("./attack.ts", import.meta.url).href)};
const [, projectDir, dataDir, seed, children, commands, sandbox] = process.argv;
const random = seeded(Number(seed));
const pick = (list) => list[Math.floor(random() * list.length)];
const folders = [".claude/agents", ".retinue/agents", ".opencode/agent", ".gemini/agents", ".copilot", ".git/hooks",
  ".mcp.json", "sub/.claude/agents", "new/deep/.git/hooks", ".github/agents", ".vscode/mcp.json", "opencode.json"];
const plant = (folder) => "mkdir -p " + folder + " 2>/dev/null; echo evil > " + folder + "/evil.md 2>/dev/null; echo evil 2>/dev/null > " + folder;
const command = () => {
  const attempt = plant(pick(folders)) + "; " + plant(pick(folders));
  return pick([
    attempt,
    "sleep 0.0" + Math.floor(random() * 9) + "; " + attempt,
    attempt + "; sleep 0." + Math.floor(random() * 2),
    "for i in 1 2 3 4 5 6 7 8; do " + attempt + "; sleep 0.01; done",
    "mv .github h; mv sub s; rm -rf sub .github; ln -s /tmp .claude; " + attempt,
  ]) + "; echo ran";
};
const { withSettings: _, confirm: __, ...shell } = createShell({ ...DEFAULT_SHELL, sandbox }, { dataDir, homeDir: join(dataDir, "home") });
const tasks = Array.from({ length: Number(children) }, (_, index) => ({ id: "t" + index, agent: "worker", task: "x" }));
const { runtime } = testRuntime({
  lead: { eachRun: [callDelegateMany(tasks), say("done")] },
  worker: (request) => {
    if (request.turn > 0) writeSync(1, JSON.stringify(request.last) + "\\n");
    return request.turn < Number(commands) ? callTool("shell", { command: command() }) : say("ok");
  },
}, {
  tools: [shell, write],
  projectDir, dataDir, database: join(dataDir, "retinue.db"),
  // However slow the machine.
  agents: {
    lead: { limits: { turns: 50, minutes: 120 }, subagents: { allow: ["worker"], maxConcurrent: 20 } },
    worker: { limits: { turns: 50, toolCalls: 50, minutes: 120 } },
  },
});
const result = await runtime.run({ agent: "lead", task: "go" });
writeSync(1, JSON.stringify("ended " + result.status) + "\\n");
await runtime.close?.();
`;

describe.skipIf(!hasSandbox)("overlapping commands (needs bubblewrap)", () => {
  let root: string;
  let projectDir: string;
  let hooks: string[];
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-overlap-")));
    projectDir = join(root, "project");
    mkdirSync(projectDir);
    execFileSync("git", ["-C", projectDir, "init", "-q"]);
    writeFileSync(join(projectDir, "package.json"), "{}");
    hooks = readdirSync(join(projectDir, ".git/hooks"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** Starts a process of its own, with a record of its own, in the same project. */
  function start(
    name: string,
    seed: number,
    {
      onResult = () => {},
      sandbox = "required",
      crowd = CROWD,
    }: { onResult?(count: number): void; sandbox?: "required" | "off"; crowd?: Crowd } = {},
  ) {
    const dataDir = join(root, name);
    mkdirSync(dataDir);
    const child = spawn(
      process.execPath,
      [
        "--conditions=retinue-source",
        "--input-type=module",
        "--eval",
        PROCESS,
        projectDir,
        dataDir,
        String(seed),
        ...crowd.map(String),
        sandbox,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      onResult(output.split("\n").length - 1);
    });
    const ended = new Promise<string[]>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", () =>
        resolve(
          output
            .split("\n")
            .filter(Boolean)
            .map((line): string => JSON.parse(line)),
        ),
      );
    });
    return { child, ended, dataDir };
  }

  /** Looks all the time whether something planted stands where it would be read. */
  function watchForPlants(): { stop(): string[] } {
    const seen = new Set<string>();
    const places = [
      ".claude/agents",
      ".retinue/agents",
      ".opencode/agent",
      ".gemini/agents",
      ".copilot",
      ".mcp.json",
      ".git/hooks",
      ".github/agents",
      ".vscode/mcp.json",
    ];
    let watching = true;
    const look = () => {
      for (const place of places) if (existsSync(join(projectDir, place, "evil.md"))) seen.add(place);
      if (watching) setImmediate(look);
    };
    look();
    return {
      stop: () => {
        watching = false;
        return [...seen];
      },
    };
  }

  function expectNothingPlanted(): void {
    const paths = execFileSync("find", [projectDir, "-mindepth", "1", "-printf", "%P\\n"], {
      encoding: "utf8",
    })
      .split("\n")
      .filter(
        (path) =>
          path !== "" && !path.startsWith(".git/") && path !== ".git" && !path.includes(".set-aside-"),
      );
    const protectedNames =
      /(^|\/)(\.claude|\.retinue|\.opencode|\.gemini|\.copilot|\.mcp\.json|opencode\.json|\.git|\.github\/agents|\.vscode\/mcp\.json)(\/|$)/;
    expect(paths.filter((path) => protectedNames.test(path))).toEqual([]);
    expect(paths.filter((path) => path.includes("retinue-hold"))).toEqual([]);
    expect(readdirSync(join(projectDir, ".git/hooks"))).toEqual(hooks);
  }

  test(`O1: ${CHILDREN} children with ${COMMANDS} commands each, in two processes on one project: all run, and none plants anything`, async () => {
    const gone = mkdtempSync(join(tmpdir(), "retinue-gone-"));
    await openJournal(gone, { holder: createHolder(), roots: [gone], held: [] }).settle();
    rmSync(gone, { recursive: true });
    const watch = watchForPlants();
    const runs = [start("one", 1), start("two", 2)];
    for (const results of await Promise.all(runs.map(({ ended }) => ended))) {
      expect(results.at(-1)).toBe("ended completed");
      const commands = results.slice(0, -1);
      expect(commands).toHaveLength(CHILDREN * COMMANDS);
      expect(commands.filter((text) => !text.includes("ran"))).toEqual([]);
    }
    expect(watch.stop()).toEqual([]);
    expectNothingPlanted();
    for (const { dataDir } of runs) expect(readdirSync(join(dataDir, "commands"))).toEqual([]);
    // The list of data folders that processes know each other by names no folder that is gone.
    const list = `/tmp/retinue-${process.getuid?.()}`;
    const listed = readdirSync(list).map((name) => readlinkSync(join(list, name)));
    expect(listed).toEqual(expect.arrayContaining(runs.map(({ dataDir }) => join(dataDir, "commands"))));
    expect(listed.filter((folder) => folder.includes("retinue-gone-"))).toEqual([]);
  }, 3_600_000);

  test("O1 without its protection: the same commands plant what they try to", async () => {
    const { ended } = start("naked", 1, { sandbox: "off" });
    await ended;
    expect(expectNothingPlanted).toThrow();
  });

  test("O1: what a running command made at any depth is no agent, prompt or setting to anybody, and what was there still is", async () => {
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(projectDir, path)), { recursive: true });
      writeFileSync(join(projectDir, path), text);
    };
    const role = { RoleId: "coder", SystemPromptFile: "prompts/roles/coder.md" };
    write(".retinue/settings.json", JSON.stringify({ AgentRoles: { Roles: [role] } }));
    write("sub/.gemini/agents/mine.md", "---\nname: mine\ndescription: mine\n---\nMine.");
    write("shared/linked.md", "---\nname: linked\ndescription: linked\n---\nLinked.");
    mkdirSync(join(projectDir, "sub/.opencode"));
    symlinkSync("../../shared", join(projectDir, "sub/.opencode/agents"));
    symlinkSync("../../missing", join(projectDir, "sub/.opencode/agent"));
    const agent = "printf -- '---\\nname: evil\\ndescription: evil\\n---\\nEvil.\\n' >";
    const script =
      `mkdir -p sub/.claude/agents sub/.retinue prompts/roles missing; ${agent} sub/.claude/agents/evil.md; ${agent} missing/evil.md; ` +
      `echo EVIL > prompts/roles/coder.md; echo '{"maxDepth": 0}' > sub/.retinue/settings.json; ls -A sub; until [ -e go ]; do sleep 0.02; done`;
    const places = { dataDir: join(root, "commands-of-another"), homeDir: join(root, "home") };
    const runner = await createCommandRunner({ ...DEFAULT_SHELL, sandbox: "required" }, places);
    const workspaceDir = join(root, "workspace");
    mkdirSync(workspaceDir);
    const planted = Promise.withResolvers<void>();
    const outcome = runner({
      ...{ script, cwd: projectDir, projectDir, workspaceDir, writable: [projectDir] },
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      onOutput: () => planted.resolve(),
    });
    const load = async (folder: string) => {
      const env = { HOME: root, RETINUE_HOME: join(root, "mine") };
      const { registry, settings, problems } = await loadProject({
        projectDir: join(projectDir, folder),
        env,
      });
      return {
        names: ["evil", "mine", "linked"].filter((name) => registry.get(name)),
        isEvil: registry.get("coder")?.prompt.includes("EVIL"),
        maxDepth: settings.maxDepth,
        ignored: problems.filter(({ code }) => code === "made-by-command").map(({ file }) => basename(file)),
      };
    };
    await planted.promise;
    const during = [await load(""), await load("sub")];
    expect(existsSync(join(projectDir, "sub/.claude/agents/evil.md"))).toBe(true);
    writeFileSync(join(projectDir, "go"), "");
    expect((await outcome).exitCode).toBe(0);
    const after = [await load(""), await load("sub")];
    expect(during.map(({ ignored: _, ...rest }) => rest)).toEqual(
      after.map(({ ignored: _, ...rest }) => rest),
    );
    expect(during.map(({ names, isEvil, ignored }) => [names, isEvil, ignored])).toEqual([
      [[], false, []],
      [["mine", "linked"], false, ["settings.json", "evil.md", "evil.md"]],
    ]);
  });

  test.each(["the same", "another"])(
    "O3: what a command of %s data folder made before its process and all its helpers were killed is set aside before agents are read",
    async (which) => {
      const dataDir = join(root, "cut-off");
      mkdirSync(join(dataDir, "commands"), { recursive: true });
      const gone = createHolder().split(".").with(5, "1").join(".");
      const state = { holder: gone, roots: [projectDir], held: [] };
      const before = { existing: {}, links: {}, closed: [], unspelled: [], modes: {} };
      mkdirSync(join(projectDir, ".github/agents"), { recursive: true });
      writeFileSync(join(projectDir, ".github/agents/evil.agent.md"), "---\ndescription: evil\n---\nEvil.");
      writeFileSync(join(dataDir, "commands", `${gone}.json`), JSON.stringify({ ...state, before }));
      registerJournals(join(dataDir, "commands"));
      const RETINUE_HOME = which === "another" ? join(root, "mine") : dataDir;
      const { registry } = await loadProject({ projectDir, env: { HOME: root, RETINUE_HOME } });
      expect(registry.get("evil")).toBeUndefined();
      expect(readdirSync(join(dataDir, "commands"))).toEqual([]);
    },
  );

  test(`O3: a process that is killed leaves nothing behind, and what runs beside it stays protected (${KILLS} kills)`, async () => {
    const random = seeded(11);
    for (let kill = 0; kill < KILLS; kill++) {
      const watch = watchForPlants();
      const crowd = kill === 0 ? CROWD : SMALL;
      const after = Math.floor(random() * crowd[0] * crowd[1] * 0.8);
      const killed = start(`killed-${kill}`, 100 + kill, {
        crowd,
        onResult: (count) => {
          if (count > after) killed.child.kill("SIGKILL");
        },
      });
      const beside = start(`beside-${kill}`, 200 + kill, { crowd });
      await killed.ended;
      const results = await beside.ended;
      expect(results.at(-1)).toBe("ended completed");
      expect(results.slice(0, -1).filter((text) => !text.includes("ran"))).toEqual([]);
      const journals = join(killed.dataDir, "commands");
      const readLeft = () => readdirSync(journals).map((name) => readFileSync(join(journals, name), "utf8"));
      await vi.waitFor(() => expect(readLeft()).toEqual([]), 30_000);
      expect(watch.stop()).toEqual([]);
      expectNothingPlanted();
      expect(readFileSync(join(projectDir, "package.json"), "utf8")).toBe("{}");
    }
  }, 3_600_000);
});
