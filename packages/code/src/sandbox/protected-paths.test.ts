import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHolder, holdPlaces, isHeld, isHolderGone, releasePlaces } from "./hold-places.ts";
import { pinPath } from "./pin-path.ts";
import { HELD_NAMES, isProtected } from "./protected-paths.ts";
import { scanFolders } from "./scan-folders.ts";
import { setFileAside } from "./settle-command.ts";

const ROUNDS = process.env.RETINUE_DEEP === "1" ? 2_000 : 100;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-protected-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
function write(path: string): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "x");
  return join(root, path);
}
const scan = (folder = root) => scanFolders([folder]);
const relative = (paths: readonly string[]) => paths.map((path) => path.slice(root.length + 1)).toSorted();

test("agent files, settings and git's files are found at any depth, and nothing else", async () => {
  const wanted = [
    ".git/config",
    "a/b/.claude/x",
    "sub/.git",
    ".github/agents/x",
    ".github/copilot-instructions.md",
    ".vscode/mcp.json",
    "c/opencode.json",
    "node_modules/x/.git/config",
    `${"deep/".repeat(40)}.gemini/x`,
  ];
  for (const path of wanted) write(path);
  for (const path of ["agents/x", "mcp.json", "src/claude", ".gitignore", ".github/workflows/copilot.yml"])
    write(path);
  expect(relative([...(await scan()).protected.keys()])).toEqual(
    [
      ".git",
      ".github/agents",
      ".github/copilot-instructions.md",
      ".vscode/mcp.json",
      "a/b/.claude",
      "c/opencode.json",
      "node_modules/x/.git",
      "sub/.git",
      `${"deep/".repeat(40)}.gemini`,
    ].toSorted(),
  );
});

test("no number of other files hides a protected one", async () => {
  for (let folder = 0; folder < 300; folder++) {
    mkdirSync(join(root, `padding-${folder}`));
    for (let file = 0; file < 100; file++) writeFileSync(join(root, `padding-${folder}`, String(file)), "");
  }
  write("zzz/.claude/agents/a.md");
  expect(relative([...(await scan()).protected.keys()])).toEqual(["zzz/.claude"]);
});

test("what takes the place of a protected file has another identity", async () => {
  write(".mcp.json");
  const before = [...(await scan()).protected];
  rmSync(join(root, ".mcp.json"));
  write(".mcp.json");
  const after = [...(await scan()).protected];
  expect(after.map(([path]) => path)).toEqual(before.map(([path]) => path));
  expect(after).not.toEqual(before);
});

test("names that are not text are told by their bytes, so that the folder around them can be closed", async () => {
  const odd = Buffer.concat([Buffer.from(`${root}/odd-`), Buffer.from([0xff, 0xfe])]);
  mkdirSync(odd);
  mkdirSync(Buffer.concat([odd, Buffer.from("/.claude")]));
  const { protected: found, unspelled } = await scan();
  expect(found.size).toBe(0);
  expect(unspelled.map((path) => path.equals(Buffer.concat([odd, Buffer.from("/.claude")])))).toEqual([true]);
  writeFileSync(Buffer.concat([odd, Buffer.from("/.claude/x")]), "");
  const [path = Buffer.alloc(0)] = unspelled;
  expect(await setFileAside(root, path)).toMatch(/\.set-aside-[0-9a-f]{8}$/);
  expect((await scan()).unspelled).toEqual([]);
});

test("a file with several names is told with those that were found", async () => {
  const outside = mkdtempSync(join(tmpdir(), "retinue-outside-"));
  writeFileSync(join(outside, "store"), "x");
  linkSync(join(outside, "store"), join(root, "from-store"));
  linkSync(write("built"), join(root, "built-too"));
  const { linked } = await scan();
  expect(linked.map(({ paths, links }) => [relative(paths), links])).toEqual(
    expect.arrayContaining([
      [["from-store"], 2],
      [["built", "built-too"], 2],
    ]),
  );
  rmSync(outside, { recursive: true });
});

test("a folder that looks like a bare repository is one", async () => {
  for (const path of ["HEAD", "config", "objects/x", "refs/x", "docs/HEAD"]) write(path);
  expect(relative([...(await scan()).protected.keys()])).toEqual(["HEAD", "config"]);
});

test("where protected links lead is told, also of links inside protected folders, through links and to nowhere", async () => {
  write("shared/a.md");
  write(".claude/settings.json");
  symlinkSync("../middle", join(root, ".claude/agents"));
  symlinkSync("shared", join(root, "middle"));
  symlinkSync("nowhere", join(root, ".gemini"));
  symlinkSync("shared", join(root, "ordinary"));
  expect(Object.fromEntries((await scan()).links)).toEqual({
    [join(root, ".claude/agents")]: join(root, "shared"),
    [join(root, ".gemini")]: "",
  });
});

test("a folder is not taken for a held place because of its permissions or of names in it", async () => {
  mkdirSync(join(root, "a"), { mode: 0o1700 });
  write("a/agent.md");
  mkdirSync(join(root, "b", createHolder()), { recursive: true });
  chmodSync(join(root, "b"), 0o1700);
  expect([isHeld(join(root, "a")), isHeld(join(root, "b"))]).toEqual([false, true]);
  writeFileSync(join(root, "b", readdirSync(join(root, "b"))[0] ?? "", "agent.md"), "");
  expect(isHeld(join(root, "b"))).toBe(false);
});

test("a part of the project is judged by its place in the whole", async () => {
  write(".github/agents/x");
  expect([...(await scan(join(root, ".github"))).protected.keys()]).toEqual([join(root, ".github/agents")]);
  expect(isProtected(join(root, ".github/workflows"), root)).toBe(false);
});

test("what was made against the rules gets a name that nothing reads; an empty folder is removed", async () => {
  const made = write("sub/.claude/settings.json");
  const moved = (await setFileAside(root, dirname(made))) ?? "";
  expect(moved).toMatch(/sub\/\.claude\.set-aside-[0-9a-f]{8}$/);
  expect([existsSync(dirname(made)), existsSync(join(moved, "settings.json"))]).toEqual([false, true]);
  mkdirSync(join(root, ".claude"));
  expect(await setFileAside(root, join(root, ".claude"))).toBeUndefined();
  expect(readdirSync(root)).toEqual(["sub"]);
  mkdirSync(join(root, "empty"));
  symlinkSync(join(root, "empty"), join(root, ".claude"));
  expect(await setFileAside(root, join(root, ".claude"))).toMatch(/\.claude\.set-aside-[0-9a-f]{8}$/);
  expect([existsSync(join(root, ".claude")), existsSync(join(root, "empty"))]).toEqual([false, true]);
});

test("a folder that was swapped for a link is not followed", async () => {
  const outside = mkdtempSync(join(tmpdir(), "retinue-outside-"));
  mkdirSync(join(outside, ".git"));
  writeFileSync(join(outside, ".git", "config"), "theirs");
  symlinkSync(outside, join(root, "sub"));
  expect(await setFileAside(root, join(root, "sub/.git"))).toBeUndefined();
  expect(await holdPlaces(root, [join(root, "sub/.claude")], createHolder())).toEqual([]);
  expect(readdirSync(outside)).toEqual([".git"]);
  rmSync(outside, { recursive: true });
});

test("a handle stands for a place in the folder, never for a link or what lies outside", () => {
  write("a/file");
  symlinkSync("/etc", join(root, "a/link"));
  for (const path of ["a/link", "a/link/passwd", "missing", "a/file/x", "../x"])
    expect(pinPath(root, join(root, path))).toBeUndefined();
  for (const path of ["a", "a/file", ""]) {
    using pinned = pinPath(root, join(root, path));
    expect(pinned).toBeDefined();
  }
});

test("a place is held for as long as one holder needs it, and what is the project's own stays", async () => {
  const path = join(root, ".claude");
  const [first, second] = [createHolder(), createHolder()];
  expect(await holdPlaces(root, [path], first)).toEqual([path]);
  expect(await holdPlaces(root, [path], second)).toEqual([path]);
  await releasePlaces(root, [path], first);
  await releasePlaces(root, [path], first);
  expect(isHeld(path)).toBe(true);
  await releasePlaces(root, [path], second);
  expect(existsSync(path)).toBe(false);
  mkdirSync(path);
  expect(await holdPlaces(root, [path], first)).toEqual([]);
  await releasePlaces(root, [path], first);
  expect(existsSync(path)).toBe(true);
});

test("a folder that is missing is made to hold a place in it, and stays only if something else was put there", async () => {
  const path = join(root, ".github/agents");
  const [first, second] = [createHolder(), createHolder()];
  expect(await holdPlaces(root, [path], first)).toEqual([path]);
  expect(await holdPlaces(root, [path], second)).toEqual([path]);
  await releasePlaces(root, [path], first);
  expect(isHeld(path)).toBe(true);
  await releasePlaces(root, [path], second);
  expect(readdirSync(root)).toEqual([]);
  await holdPlaces(root, [path], first);
  write(".github/workflows/ci.yml");
  await releasePlaces(root, [path], first);
  expect(readdirSync(join(root, ".github"))).toEqual(["workflows"]);
  expect(statSync(join(root, ".github")).mode & 0o7777).toBe(0o755);
});

test.each([
  ["folder", ".vscode/mcp.json"],
  ["file", "settings.inc"],
])(
  "a place is held by a %s although others take it and give it up all the time",
  async (kind, name) => {
    const path = join(root, name);
    const files = new Set(kind === "file" ? [path] : []);
    const source = `
    import { workerData, parentPort } from "node:worker_threads";
    const { createHolder, holdPlaces, releasePlaces } = await import(workerData.places);
    const holder = createHolder();
    parentPort.postMessage("begun");
    while (Atomics.load(workerData.isDone, 0) === 0) {
      holdPlaces(workerData.root, [workerData.path], holder, workerData.files);
      releasePlaces(workerData.root, [workerData.path], holder);
    }`;
    const isDone = new Int32Array(new SharedArrayBuffer(4));
    const places = new URL("./hold-places.ts", import.meta.url).href;
    const others = [1, 2].map(
      () =>
        new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
          workerData: { places, root, path, files, isDone },
        }),
    );
    const ended = others.map((worker) => once(worker, "exit"));
    await Promise.all(others.map((worker) => once(worker, "message")));
    const holder = createHolder();
    const faults: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      if (holdPlaces(root, [path], holder, files).length === 0) faults.push(`${round}: not held`);
      for (let look = 0; look < 10; look++)
        if (!isHeld(path)) faults.push(`${round}: seen as something else`);
      if (await setFileAside(root, path)) faults.push(`${round}: set aside`);
      releasePlaces(root, [path], holder);
    }
    Atomics.store(isDone, 0, 1);
    await Promise.all(ended);
    expect(faults).toEqual([]);
    expect(readdirSync(root)).toEqual([]);
  },
  60_000,
);

test("a place that git reads settings from is held by a file that means nothing to git, and what is the person's stays", () => {
  const path = join(root, "settings.inc");
  const files = new Set([path]);
  const [first, second] = [createHolder(), createHolder()];
  expect(holdPlaces(root, [path], first, files)).toEqual([path]);
  expect(holdPlaces(root, [path], second)).toEqual([path]);
  expect(execFileSync("git", ["config", "--list", "-f", path]).toString()).toBe("");
  releasePlaces(root, [path], first);
  releasePlaces(root, [path], first);
  expect(isHeld(path)).toBe(true);
  releasePlaces(root, [path], second);
  expect(existsSync(path)).toBe(false);
  holdPlaces(root, [path], first, files);
  writeFileSync(path, "[user]\n");
  expect(isHeld(path)).toBe(false);
  releasePlaces(root, [path], first);
  expect(holdPlaces(root, [path], second, files)).toEqual([]);
  expect(existsSync(path)).toBe(true);
});

test("a holder whose process is gone holds its place until that is settled; one of an earlier boot holds nothing", async () => {
  const path = join(root, ".claude");
  const own = createHolder();
  const parts = own.split(".");
  const vary = (index: number, value: string) => parts.with(index, value).join(".");
  expect(
    [own, vary(1, "00000000"), vary(3, "1"), vary(4, "1"), vary(5, "1"), vary(2, "00000000")].map(
      isHolderGone,
    ),
  ).toEqual([false, false, false, true, true, true]);
  for (const [holder, isKept] of [
    [vary(5, "1"), true],
    [vary(2, "00000000"), false],
  ] as const) {
    holdPlaces(root, [path], holder);
    holdPlaces(root, [path], own);
    releasePlaces(root, [path], own);
    expect(existsSync(path)).toBe(isKept);
    releasePlaces(root, [path], holder);
    expect(existsSync(path)).toBe(false);
  }
});

test("the settings of Retinue and of git are among the names that are held", () => {
  expect(HELD_NAMES).toEqual(expect.arrayContaining([".retinue", ".git", ".claude", ".mcp.json"]));
});
