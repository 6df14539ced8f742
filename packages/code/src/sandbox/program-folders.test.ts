import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProgramFolders } from "./program-folders.ts";

let root: string;
beforeEach(() => {
  // Temporary files may lie in /dev, where no programs are looked for.
  root = realpathSync(mkdtempSync("/var/tmp/retinue-programs-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function shown(...entries: string[]): string[] {
  const homeDir = join(root, "home");
  for (const entry of entries) mkdirSync(join(root, entry), { recursive: true });
  const PATH = [...entries.map((entry) => join(root, entry)), "relative/bin", "/", ""].join(":");
  const places = {
    env: { PATH },
    homeDir,
    dataDir: join(root, "data"),
    configDir: join(homeDir, ".config/retinue"),
  };
  return findProgramFolders(places)
    .installations.map(({ around }) => around)
    .filter((folder) => folder.startsWith(root))
    .map((folder) => folder.slice(root.length + 1));
}

test("an installation is shown as a whole", () => {
  expect(shown("home/.pyenv/shims", "opt/tool/bin", "home/.nvm/versions/node/v24/bin")).toEqual([
    "home/.pyenv",
    "opt/tool",
    "home/.nvm/versions/node/v24",
  ]);
});

test("where secrets lie around programs, only the programs are shown", () => {
  expect(shown("home/.local/bin", "home/bin", "home/.cargo/bin", "home/.local/share/mise/shims")).toEqual([
    "home/.local/bin",
    "home/bin",
    "home/.cargo/bin",
    "home/.local/share/mise",
  ]);
});

test("folders of keys, settings and the record are never shown, whatever the PATH says", () => {
  expect(shown("home/.ssh/bin", "home/.aws/bin", "home/.config/x/bin", "data/bin", "home/.gnupg")).toEqual(
    [],
  );
});

test("a link is shown by what it leads to", () => {
  mkdirSync(join(root, "home/.ssh"), { recursive: true });
  symlinkSync(join(root, "home/.ssh"), join(root, "innocent"));
  expect(shown("innocent")).toEqual([]);
});

test("the Node that runs Retinue is among the programs, and no secret of /etc is", () => {
  const { path, etc } = findProgramFolders({ env: {}, homeDir: root, dataDir: root, configDir: root });
  expect(path.split(":")).toContain(realpathSync(join(process.execPath, "..")));
  expect(etc.filter((name) => /shadow|ssh|private|sudoers|key/i.test(name))).toEqual([]);
});
