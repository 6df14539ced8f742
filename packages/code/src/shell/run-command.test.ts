import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ShellSettings } from "@retinue/core/schema/settings";
import { DEFAULT_SHELL } from "@retinue/core/settings/default-settings";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hasSandbox } from "../../../../test/fixtures/has-sandbox.ts";
import { findBubblewrap } from "../sandbox/find-bubblewrap.ts";
import { runInBubblewrap } from "../sandbox/run-in-bubblewrap.ts";
import type { CommandHost, CommandOutcome, CommandRequest } from "./command.ts";
import { createCommandRunner } from "./run-command.ts";

let root: string;
let projectDir: string;
let workspaceDir: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-command-")));
  projectDir = join(root, "project");
  workspaceDir = join(root, "data/sessions/one");
  mkdirSync(projectDir);
  mkdirSync(workspaceDir, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content = "x"): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  return join(root, path);
}

type Given = Partial<CommandRequest> & { settings?: Partial<ShellSettings>; host?: CommandHost };
async function run(script: string, { settings, host, ...request }: Given = {}): Promise<CommandOutcome> {
  const places = { dataDir: join(root, "data"), homeDir: join(root, "home") };
  const runner = await createCommandRunner({ ...DEFAULT_SHELL, ...settings }, { ...places, ...host });
  return runner({
    ...(request.argv ? {} : { script }),
    cwd: projectDir,
    projectDir,
    workspaceDir,
    writable: [],
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...request,
  });
}
function readArguments(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
const onHost = { settings: { sandbox: "off" } } as const;

describe.skipIf(!hasSandbox)("in the sandbox (needs bubblewrap)", () => {
  test("a command gives its output, its errors and its exit code", async () => {
    write("project/in.txt", "hello");
    const outcome = await run("cat in.txt; echo oops >&2; exit 3");
    expect(outcome).toMatchObject({ exitCode: 3, stdout: "hello", stderr: "oops\n" });
  });

  test("a command that ends as a failed setup does is no failed setup if it did more", async () => {
    const outcome = await run("echo ran; echo 'bwrap: no' >&2; exit 1");
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "ran\n", stderr: "bwrap: no\n" });
  });

  test("an argv is read by no shell", async () => {
    const argv = ["echo", "$HOME", ";", "$(id)", "-n"];
    expect((await run("", { argv })).stdout).toBe("$HOME ; $(id) -n\n");
  });

  test("only what is writable can be written", async () => {
    write("project/test/a");
    write("project/src/a");
    const writable = [join(projectDir, "test")];
    const { stderr } = await run("echo 1 > test/b; echo 2 > src/b; echo 3 > c; echo 4 > /usr/d", {
      writable,
    });
    expect(readdirSync(join(projectDir, "test"))).toEqual(["a", "b"]);
    expect(readdirSync(join(projectDir, "src"))).toEqual(["a"]);
    expect(stderr.match(/Read-only file system/g)).toHaveLength(3);
  });

  test("a folder can stay closed inside a writable one", async () => {
    write("project/src/a");
    const readOnly = [join(projectDir, "src")];
    await run("echo 1 > b; echo 2 > src/b; mv src other", { writable: [projectDir], readOnly });
    expect(readdirSync(projectDir).toSorted()).toEqual(["b", "src"]);
    expect(readdirSync(join(projectDir, "src"))).toEqual(["a"]);
  });

  test("hidden files and folders are empty, whatever name leads to them", async () => {
    const hidden = [write("project/.env", "canary"), dirname(write("project/secrets/key", "canary"))];
    symlinkSync(".env", join(projectDir, "link"));
    const { stdout } = await run("cat .env link; ls -A secrets; cat secrets/key; grep -r canary .", {
      hidden,
    });
    expect(stdout).toBe("");
  });

  test("a writable path that leads outside is not opened", async () => {
    mkdirSync(join(root, "outside"));
    symlinkSync(join(root, "outside"), join(projectDir, "test"));
    await run("echo 1 > test/a", { writable: [join(projectDir, "test"), join(root, "outside")] });
    expect(readdirSync(join(root, "outside"))).toEqual([]);
  });

  test("other files of the machine, the home and the record are not there", async () => {
    write("home/.ssh/id_rsa", "canary");
    write("data/retinue.db", "canary");
    write("data/sessions/two/secret", "canary");
    const { stdout } = await run(
      `ls -A ~; cat ~/.ssh/id_rsa; find ${root}/data -type f; ls ${root}; ls -A /run /var /sys /home`,
    );
    expect(stdout).toBe("data\nhome\nproject\n");
  });

  test("a project that is the home itself still keeps its keys", async () => {
    write("project/.ssh/id_rsa", "canary");
    write("project/.local/share/retinue/retinue.db", "canary");
    write("project/.config/x", "canary");
    const dataDir = join(projectDir, ".local/share/retinue");
    const own = join(dataDir, "sessions/one");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "mine"), "visible");
    const { stdout } = await run(`grep -r canary . ; cat ${own}/mine; echo 1 > ~/new`, {
      host: { homeDir: projectDir, dataDir },
      workspaceDir: own,
      writable: [projectDir, own],
    });
    expect(stdout).toBe("visible");
    expect(existsSync(join(projectDir, "new"))).toBe(false);
  });

  test("nothing that is open in this process is open in the command, and nothing of the kernel can be set", async () => {
    const { stdout } = await run(
      "for f in /proc/self/fd/*; do readlink $f; done | grep -v -e /dev/null -e socket: -e pipe: -e /proc/; " +
        "find /proc -maxdepth 4 -path '/proc/[0-9]*' -prune -o -writable -print 2>/dev/null | while read f; do [ -f $f ] && echo $f; done",
      { writable: [projectDir, workspaceDir] },
    );
    expect(stdout).toBe("");
  });

  test("agent files, settings and git's files can be neither changed nor made, nor moved out of the way", async () => {
    write("project/.git/config", "theirs");
    write("project/.github/agents/a.md", "theirs");
    write("project/sub/.git/hooks/x", "theirs");
    const outcome = await run(
      "echo 1 > .git/hooks/pre-commit; echo 1 >> .git/config; rm -rf .git; mv .git g; mkdir .claude; echo 1 > .mcp.json; " +
        "mkdir -p .retinue && echo 1 > .retinue/settings.json; mv .github h; mv sub s; echo 1 > sub/.git/hooks/y; " +
        "mkdir -p deep/.claude && echo 1 > deep/.claude/settings.json; git init -q nested; echo fine > file",
      { writable: [projectDir] },
    );
    expect(readdirSync(projectDir).toSorted()).toEqual([".git", ".github", "deep", "file", "nested", "sub"]);
    expect(readFileSync(join(projectDir, ".git/config"), "utf8")).toBe("theirs");
    expect(readdirSync(join(projectDir, ".git"))).toEqual(["config"]);
    expect(readdirSync(join(projectDir, "sub/.git/hooks"))).toEqual(["x"]);
    expect(readdirSync(join(projectDir, "deep"))).toEqual([expect.stringMatching(/^\.claude\.set-aside-/)]);
    expect(readdirSync(join(projectDir, "nested"))).toEqual([expect.stringMatching(/^\.git\.set-aside-/)]);
    expect(outcome.notes.filter((note) => note.includes("set-aside"))).toHaveLength(2);
  });

  test("a folder around what is hidden or read-only cannot be renamed, so no rule is left behind", async () => {
    const key = write("project/config/private/key", "canary");
    write("project/src/gen/a.ts", "theirs");
    const request = {
      writable: [projectDir],
      hidden: [dirname(key)],
      readOnly: [join(projectDir, "src/gen")],
    };
    const { stderr } = await run(
      "mv config cfg2; mv src src2; echo 1 > config/new; cp -r config copy",
      request,
    );
    expect(stderr.match(/busy/g)).toHaveLength(2);
    expect(readdirSync(projectDir).toSorted()).toEqual(["config", "copy", "src"]);
    const { stdout } = await run("cat */private/key */key; echo 2 > src/gen/a.ts", request);
    expect(stdout).toBe("");
    expect(readFileSync(join(projectDir, "src/gen/a.ts"), "utf8")).toBe("theirs");
    expect(readFileSync(join(projectDir, "config/new"), "utf8")).toBe("1\n");
  });

  test("protected files are read-only however deep they lie and however much lies around them", async () => {
    const deep = `${"d/".repeat(30)}repo`;
    write(`project/${deep}/.git/config`, "theirs");
    for (let folder = 0; folder < 220; folder++) {
      mkdirSync(join(projectDir, `pad-${folder}`));
      for (let file = 0; file < 100; file++)
        writeFileSync(join(projectDir, `pad-${folder}`, String(file)), "");
    }
    await run(`echo 1 > ${deep}/.git/config; mkdir ${deep}/.git/hooks; mv d e; rm -rf d`, {
      writable: [projectDir],
    });
    expect(readFileSync(join(projectDir, deep, ".git/config"), "utf8")).toBe("theirs");
    expect(readdirSync(join(projectDir, deep, ".git"))).toEqual(["config"]);
  });

  test("more protected files than can be mounted close the folders around them", async () => {
    for (let repository = 0; repository < 500; repository++)
      write(`project/vendor/v${repository}/.git/config`, "theirs");
    const outcome = await run(
      "echo 1 > vendor/v7/.git/config; echo 2 > vendor/v7/new; echo 3 > open; exit 1",
      {
        writable: [projectDir],
      },
    );
    expect(readFileSync(join(projectDir, "vendor/v7/.git/config"), "utf8")).toBe("theirs");
    expect(existsSync(join(projectDir, "open"))).toBe(true);
    expect(existsSync(join(projectDir, "vendor/v7/new"))).toBe(false);
    expect(outcome.notes.join()).toContain("too many agent files and repositories");
  });

  test("what a protected link leads to is read-only, and what takes its place is set aside", async () => {
    write("project/dotfiles/claude/agents/a.md", "theirs");
    write("project/.gemini/settings.json", "theirs");
    write("project/shared/b.md", "theirs");
    symlinkSync("dotfiles/claude", join(projectDir, ".claude"));
    symlinkSync("../shared", join(projectDir, ".gemini/agents"));
    symlinkSync("nowhere", join(projectDir, "opencode.json"));
    const { notes } = await run(
      "echo 1 > .claude/agents/a.md; echo 1 > .gemini/agents/b.md; echo 1 > shared/evil.md; echo '{}' > nowhere; " +
        "rm .claude; mkdir -p .claude/agents; echo evil > .claude/agents/b.md",
      { writable: [projectDir] },
    );
    const [made] = readdirSync(projectDir).filter((name) => name.startsWith(".claude"));
    expect(made).toMatch(/^\.claude\.set-aside-/);
    expect(readFileSync(join(projectDir, "dotfiles/claude/agents/a.md"), "utf8")).toBe("theirs");
    expect(readdirSync(join(projectDir, "shared"))).toEqual(["b.md"]);
    expect(existsSync(join(projectDir, "opencode.json"))).toBe(false);
    expect(notes.join()).toContain(".claude is gone; it was a link to");
  });

  test("an open folder that one command hands to another keeps what is mounted below it", async () => {
    const hidden = [write("project/.env", "canary")];
    write("project/.git/config", "theirs");
    const request = { writable: [projectDir], hidden };
    const receive = [
      "import array, os, socket, sys",
      "server = socket.socket(socket.AF_UNIX); server.bind('s'); server.listen(); open('ready', 'w').close()",
      "link = server.accept()[0]; data, extra, *_ = link.recvmsg(1, socket.CMSG_SPACE(4))",
      "fd = array.array('i', extra[0][2])[0]; link.recv(1)",
      "def tryTo(path, flags):",
      "  try: return os.read(os.open(path, flags, dir_fd=fd), 100) if flags == 0 else os.write(os.open(path, flags, dir_fd=fd), b'evil')",
      "  except OSError as error: return error.errno",
      "print(tryTo('.env', 0), tryTo('.git/config', os.O_WRONLY))",
    ].join("\n");
    const send = [
      "import array, os, socket, time",
      "link = socket.socket(socket.AF_UNIX); link.connect('s')",
      "link.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [os.open('.', os.O_RDONLY)]))])",
    ].join("\n");
    const receiving = run(`python3 -c "${receive}"`, request);
    await vi.waitFor(() => expect(existsSync(join(projectDir, "ready"))).toBe(true), 30_000);
    await run(`python3 -c "${send}"`, request);
    // The other end is closed when the sender's sandbox is gone.
    expect((await receiving).stdout).toMatch(/^(b''|13) 30\n$/);
    expect(readFileSync(join(projectDir, ".git/config"), "utf8")).toBe("theirs");
  });

  test("what is found only by a command that overlaps with its maker is set aside all the same", async () => {
    const controller = new AbortController();
    const maker = run("mkdir -p sub/.claude; echo evil > sub/.claude/a.md; touch made; sleep 600", {
      writable: [projectDir],
      signal: controller.signal,
    });
    await vi.waitFor(() => expect(existsSync(join(projectDir, "made"))).toBe(true), 30_000);
    // It sees what the other made, and would take it for the project's own.
    await run("true", { writable: [projectDir] });
    expect(readdirSync(join(projectDir, "sub"))).toEqual([expect.stringMatching(/set-aside/)]);
    controller.abort();
    await maker;
  });

  test("what bubblewrap makes to mount on, because something has another name by then, does not stay", async () => {
    mkdirSync(join(projectDir, "sub/.claude"), { recursive: true });
    const found = await findBubblewrap();
    if ("fault" in found) throw new Error(found.fault);
    // Another command, which made the folder, ends just then, and the first setup fails after all.
    const program = write(
      "bwrap",
      `#!/bin/sh
if [ "$1" = --args ] && [ ! -e ${root}/aside ]; then
  mv ${projectDir}/sub/.claude ${root}/aside
  shift 2; exec ${found.program} --args 3 --chdir /missing "$@"
fi
exec ${found.program} "$@"`,
    );
    chmodSync(program, 0o755);
    const places = { dataDir: join(root, "data"), homeDir: join(root, "home"), configDir: root, env: {} };
    const request = { cwd: projectDir, projectDir, workspaceDir, writable: [projectDir], timeoutMs: 60_000 };
    const outcome = await runInBubblewrap(
      { ...request, script: "echo ran", signal: new AbortController().signal },
      { settings: DEFAULT_SHELL, places },
      { ...found, program },
    );
    expect(outcome.stdout).toBe("ran\n");
    expect(readdirSync(root)).toContain("aside");
    expect(readdirSync(join(projectDir, "sub"))).toEqual([]);
  });

  test("permissions keep nothing from being set aside", async () => {
    await run("mkdir -p sub/.claude; echo evil > sub/.claude/a.md; chmod 1700 sub/.claude; chmod 555 sub .", {
      writable: [projectDir],
    });
    expect(readdirSync(join(projectDir, "sub"))).toEqual([expect.stringMatching(/set-aside/)]);
    expect(readdirSync(projectDir)).toEqual(["sub"]);
  });

  test("a file with a second name outside is not there; installed packages are, and stay as they are", async () => {
    for (const name of ["secret", "store"]) write(`outside/${name}`, `module.exports = "${name}";`);
    mkdirSync(join(projectDir, "node_modules/dep"), { recursive: true });
    linkSync(join(root, "outside/secret"), join(projectDir, "mine.js"));
    linkSync(join(root, "outside/store"), join(projectDir, "node_modules/dep/index.js"));
    linkSync(write("project/target/built", "1"), join(projectDir, "target/built-too"));
    const outcome = await run(
      "cat mine.js; echo evil > mine.js; node -p 'require(\"dep\")'; echo evil > node_modules/dep/index.js; echo 2 > target/built; exit 1",
      { writable: [projectDir] },
    );
    expect(outcome.stdout).toBe("store\n");
    expect(readFileSync(join(root, "outside/secret"), "utf8")).toContain("secret");
    expect(readFileSync(join(root, "outside/store"), "utf8")).toContain("store");
    expect(readFileSync(join(projectDir, "target/built-too"), "utf8")).toBe("2\n");
    expect(outcome.notes.join()).toMatch(/package store.*second names/);
  });

  test("a second name of a hidden file is hidden as well", async () => {
    const hidden = [write("project/secrets/key", "canary")];
    linkSync(hidden[0] ?? "", join(projectDir, "copy"));
    expect((await run("cat copy secrets/key", { hidden })).stdout).toBe("");
  });

  test("what git's settings name is read-only or held, there or not, and who changed it is told why", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: projectDir, env: { ...process.env, HOME: join(root, "home") } });
    git("init", "-q");
    git("init", "-q", "sub");
    for (const [key, value] of [
      ["core.hooksPath", ".husky/_"],
      ["include.path", "../.gitconfig"],
      ["core.fsmonitor", "./deep/er/monitor"],
    ] as const)
      git("config", key, value);
    git("-C", "sub", "config", "core.hooksPath", "hooks");
    git("-C", "sub", "config", "include.path", "../own.inc");
    write("project/.husky/pre-commit", "npm test\n");
    write("project/sub/own.inc", "[user]\n\tname = a\n");
    const before = execFileSync("find", [projectDir]).toString();
    const { stdout, stderr, notes } = await run(
      "git status --short; mkdir -p .husky/_ sub/hooks deep/er; echo x > .husky/pre-commit; echo x > .husky/_/pre-push; " +
        "echo x > .gitconfig; echo x > sub/hooks/pre-push; echo x > sub/own.inc; echo x > deep/er/monitor; mv sub s; mv .husky h; " +
        "rm -rf sub/own.inc .husky; cat .husky/pre-commit; exit 1",
      { writable: [projectDir, workspaceDir] },
    );
    expect(stdout).toBe("?? .gitconfig\n?? .husky/\n?? sub/\nnpm test\n");
    expect(
      stderr.match(/Read-only file system|busy|Permission denied|No such file/g)?.length,
    ).toBeGreaterThan(8);
    expect(execFileSync("find", [projectDir]).toString()).toBe(before);
    expect(readFileSync(join(projectDir, ".husky/pre-commit"), "utf8")).toBe("npm test\n");
    expect(notes.join()).toContain(`${join(projectDir, ".husky")} (core.hooksPath in .git/config)`);
  });

  test("what git's settings name only because a command made a repository is left alone", async () => {
    write("project/src/a.js", "mine");
    const { exitCode } = await run(
      "git init -q new; git -C new config core.hooksPath ../src; git -C new config include.path ../../../src/a.js; echo more >> src/a.js",
      { writable: [projectDir, workspaceDir] },
    );
    expect(exitCode).toBe(0);
    expect(readFileSync(join(projectDir, "src/a.js"), "utf8")).toBe("minemore\n");
    expect(readdirSync(join(projectDir, "new"))).toEqual([expect.stringMatching(/^\.git\.set-aside-/)]);
  });

  test("a command leaves nothing of its protection behind, and its placeholders do not show in an ordinary listing", async () => {
    write("project/a.json", "{}");
    const { stdout, exitCode } = await run("ls; wc -c *.json", { writable: [projectDir, workspaceDir] });
    expect([stdout, exitCode]).toEqual(["a.json\n2 a.json\n", 0]);
    expect([
      readdirSync(projectDir),
      readdirSync(workspaceDir),
      readdirSync(join(root, "data/commands")),
    ]).toEqual([["a.json"], [], []]);
  });

  test("a program that takes a held name for a file's is told what it is, and git sees none of them", async () => {
    write("project/a.json", "{}");
    execFileSync("git", ["init", "-q"], { cwd: projectDir });
    const script = "git status --short; find . -name '*.json' -exec wc -c {} +";
    const { stdout, notes } = await run(script, { writable: [projectDir, workspaceDir] });
    expect(stdout.split("\n")[0]).toBe("?? a.json");
    expect(notes.join()).toMatch(/only keep a name free.*\.mcp\.json/);
    expect((await run("wc -c *.json", { writable: [projectDir, workspaceDir] })).notes.join()).not.toContain(
      "mcp",
    );
  });

  test("git works in a linked worktree, and a forged link to another repository opens nothing", async () => {
    const main = join(root, "main");
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", main, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        stdio: "pipe",
      });
    write("main/file", "canary");
    git("init", "-q");
    git("add", "file");
    git("commit", "-qm", "the first one");
    git("worktree", "add", "-q", "--detach", join(projectDir, "tree"));
    const tree = { projectDir: join(projectDir, "tree"), cwd: join(projectDir, "tree") };
    expect((await run("git log --oneline; git status --short", tree)).stdout).toMatch(
      /^\w+ the first one\n$/,
    );
    write("project/.git", readFileSync(join(tree.projectDir, ".git"), "utf8"));
    expect((await run(`git log; git show HEAD:file; ls ${main}`)).stdout).toBe("");
  });

  test("the environment holds only the usual few, what the settings name, and what was asked for", async () => {
    const { stdout } = await run("env | cut -d= -f1 | sort | tr '\\n' ' '", {
      settings: { env: ["NAMED", "ABSENT"] },
      host: { env: { PATH: process.env.PATH, NAMED: "1", SECRET: "2", LD_PRELOAD: "" } },
      env: { ASKED: "3" },
    });
    expect(stdout.trim().split(" ")).toEqual(
      ["ASKED", "CI", "HOME", "LANG", "NAMED", "PATH", "PWD", "SHLVL", "TERM", "TMPDIR", "_"].toSorted(),
    );
  });

  test("there is no network unless the settings and the request want it", async () => {
    const count = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort | head -3 | tr '\\n' ' '";
    expect((await run(count, { network: true })).stdout.trim()).toBe("lo");
    const open = await run("readlink /proc/self/ns/net", { settings: { network: true }, network: true });
    const shut = await run("readlink /proc/self/ns/net", { settings: { network: true }, network: false });
    expect(shut.stdout).not.toBe(open.stdout);
  });

  test("a command that waits for input gets none", async () => {
    expect((await run("cat; read line; echo $?")).stdout).toBe("1\n");
  });

  test("time is up for everything that a command started", async () => {
    const outcome = await run("setsid sleep 600 & (sleep 600 &) ; sleep 600", { timeoutMs: 500 });
    expect(outcome).toMatchObject({ exitCode: null, timedOut: true });
    expect(outcome.notes.join()).toContain("stopped after 0.5 s");
  });

  test("a command is stopped from outside, and one that comes too late does not begin", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const outcome = await run("echo begun; sleep 600", { signal, onOutput: () => controller.abort() });
    expect(outcome).toMatchObject({ exitCode: null, stdout: "begun\n", timedOut: false });
    expect((await run("touch made", { signal, writable: [projectDir] })).notes.join()).toContain(
      "before it began",
    );
    expect(existsSync(join(projectDir, "made"))).toBe(false);
  });

  test("a command that is stopped while its sandbox is being set up leaves nothing behind", async () => {
    const nap = `600.${process.pid}`;
    const stopAfter = async (turns: number) => {
      const controller = new AbortController();
      const running = run(`sleep ${nap}`, { signal: controller.signal });
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      return running;
    };
    for (let turns = 0; turns < 2_000; turns += 50)
      expect(await stopAfter(turns)).toMatchObject({ exitCode: null, timedOut: false });
    const others = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    expect(others.filter((pid) => readArguments(pid).includes(nap))).toEqual([]);
  });

  test("memory is limited for all processes together", async () => {
    const hog =
      "node -e 'const a = []; const t = setInterval(() => { a.push(Buffer.alloc(1e7, 1)); " +
      'if (a.length === 80) { clearInterval(t); console.log("full"); setTimeout(() => {}, 6e5); } }, 20)\'';
    const { exitCode, stdout, timedOut } = await run(`${hog} & ${hog} & wait -n; exit 7`, {
      settings: { memoryMb: 1_024 },
    });
    expect([7, null]).toContain(exitCode);
    expect([stdout.split("full").length <= 2, timedOut]).toEqual([true, false]);
  });

  test("temporary folders are limited", async () => {
    const fill = ["/tmp/x", "~/x", "/dev/shm/x", "/x", "/dev/x"].map(
      (path) => `head -c 100M /dev/zero > ${path}`,
    );
    const { stderr } = await run(fill.join("; "), { settings: { memoryMb: 64 } });
    expect(stderr.match(/No space left on device/g)).toHaveLength(3);
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
  });

  test("a single file is limited", async () => {
    const { exitCode } = await run("head -c 100M /dev/zero > big", {
      settings: { diskMb: 20 },
      writable: [projectDir],
    });
    expect(exitCode).not.toBe(0);
    expect(readFileSync(join(projectDir, "big")).length).toBeLessThanOrEqual(20 * 1024 * 1024);
  });

  test("output is told while it comes, and a flood of it is stopped", async () => {
    const seen: string[] = [];
    const outcome = await run("yes", {
      onOutput: (chunk) => seen.push(chunk.slice(0, 2)),
      maxOutputBytes: 1_000,
    });
    expect(outcome.exitCode).toBeNull();
    expect(outcome.stdout).toContain("bytes left out");
    expect(outcome.stdout.length).toBeLessThan(1_200);
    expect(seen[0]).toBe("y\n");
  });

  test("a command that does not exist is an exit code, not an error of the sandbox", async () => {
    expect((await run("", { argv: ["no-such-program"] })).exitCode).toBe(127);
  });
});

test.each(["required", "auto"] as const)(
  "without a sandbox, `%s` runs nothing, and says what to install",
  async (sandbox) => {
    const settings = { sandbox };
    const host = { bubblewrap: null };
    await expect(run("touch made", { host, settings, writable: [projectDir] })).rejects.toMatchObject({
      code: "config",
      hint: expect.stringContaining("apt install bubblewrap"),
    });
    const fault = run("true", { host: { bubblewrap: "/no/such/bwrap" }, settings });
    await expect(fault).rejects.toThrow("/no/such/bwrap cannot be run");
    expect(readdirSync(projectDir)).toEqual([]);
  },
);

test("the host runs a command only by the person's explicit setting, and the outcome says so", async () => {
  const outcome = await run("echo $0; pwd", onHost);
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stdout).toContain(projectDir);
  expect(outcome.notes[0]).toContain("no sandbox");
});

test("on the host a command gets no files but the usual three", async () => {
  const { stdout } = await run(
    "for f in 3 4 5; do [ -e /proc/self/fd/$f ] && readlink /proc/self/fd/$f; done",
    onHost,
  );
  expect(stdout).not.toContain("socket:");
});

test("on the host, what outlives a command does not hold up its outcome", async () => {
  const { stdout, exitCode } = await run("setsid sleep 300 & echo $!; sleep 300 &", onHost);
  process.kill(Number(stdout), "SIGKILL");
  expect(exitCode).toBe(0);
});

test("a working folder outside, two commands at once, or none, are refused", async () => {
  await expect(run("true", { ...onHost, cwd: root })).rejects.toThrow("outside the project");
  symlinkSync(root, join(projectDir, "up"));
  await expect(run("true", { ...onHost, cwd: join(projectDir, "up") })).rejects.toThrow(
    "outside the project",
  );
  await expect(run("true", { ...onHost, script: "true", argv: ["true"] })).rejects.toThrow("either");
  await expect(run("", { ...onHost, argv: [] })).rejects.toThrow("either");
  await expect(run("a\0b", onHost)).rejects.toThrow("NUL");
});

test("a time for commands beyond what a timer takes is a long one, not none", async () => {
  const settings = { ...onHost.settings, seconds: 2 ** 40 };
  const outcome = await run("echo hello", { settings, timeoutMs: 2 ** 50 });
  expect(outcome).toMatchObject({ exitCode: 0, timedOut: false, stdout: "hello\n" });
});
