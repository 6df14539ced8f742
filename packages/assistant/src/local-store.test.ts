import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseLocalStore, findZone } from "./local-store.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-local-")));
  mkdirSync(join(root, "project", "examples"), { recursive: true });
  mkdirSync(join(root, "elsewhere"));
});
afterEach(() => rmSync(root, { recursive: true }));
const choose = (folder: string, folderWithin?: string, hasAny = false) =>
  chooseLocalStore(
    { folder, ...(folderWithin !== undefined && { folderWithin }) },
    { dataDir: join(root, "data") },
    { hasAny },
  );

test("a folder has a store of its own; without one the person's mailbox serves", () => {
  const folder = join(root, "project", "examples");
  const store = choose(folder, join(root, "project"));
  expect(store.folder).toBe(folder);
  expect(store.file).toMatch(/[0-9a-f]{32}\.db$/);
  expect(choose(folder)).toEqual(store);
  const { file } = chooseLocalStore({}, { dataDir: "/data" }, { hasAny: false });
  expect(file).toBe(join("/data", "assistant", "mailbox.db"));
});

test("where there are accounts, a project's folder is not read", () => {
  expect(choose(join(root, "project", "examples"), join(root, "project"), true).folder).toBeUndefined();
});

test("a project's folder that leads out of the project is refused", () => {
  const link = join(root, "project", "link");
  symlinkSync(join(root, "elsewhere"), link);
  expect(() => choose(link, join(root, "project"))).toThrow("leads out of the project");
  expect(() => choose(join(root, "nowhere"))).toThrow("is not there");
});

test("the zone is the settings' own, else the owner's of the folder, else the machine's", () => {
  const folder = join(root, "elsewhere");
  const places = { env: { TZ: "Asia/Tokyo" }, configDir: root };
  expect(findZone({ timezone: "Europe/Paris", folder }, places)).toBe("Europe/Paris");
  expect(findZone({ folder }, places)).toBe("Asia/Tokyo");
  writeFileSync(join(folder, "owner.json"), '{"zone": "America/Lima"}');
  expect(findZone({ folder }, places)).toBe("America/Lima");
  expect(findZone({ timezone: "Mars/Base", folder }, places)).toBe("America/Lima");
  rmSync(join(folder, "owner.json"));
  symlinkSync("/dev/zero", join(folder, "owner.json"));
  expect(findZone({ folder }, places)).toBe("Asia/Tokyo");
});
