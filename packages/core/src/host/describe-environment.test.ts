import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findPerson } from "./describe-environment.ts";

let root = "";
let project = "";
let home = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-environment-")));
  [project, home] = [join(root, "project"), join(root, "home")];
  for (const folder of [project, home]) mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("the person's name is the repository's own setting, then the person's", () => {
  const named = (name: string) => `[core]\n\tbare = false\n[user]\n\temail = x@y.example\n\tname = ${name}\n`;
  expect(findPerson(project, home)).toBeNull();
  mkdirSync(join(home, ".config", "git"), { recursive: true });
  writeFileSync(join(home, ".config", "git", "config"), named('"Ada Third"'));
  expect(findPerson(project, home)).toBe("Ada Third");
  writeFileSync(join(home, ".gitconfig"), named("Ada Second"));
  expect(findPerson(project, home)).toBe("Ada Second");
  mkdirSync(join(project, ".git"));
  writeFileSync(join(project, ".git", "config"), named("Ada First"));
  expect(findPerson(project, home)).toBe("Ada First");
});

test("what is longer than a name, of another section, or in a file of unusual size is no name", () => {
  const config = (text: string) => {
    writeFileSync(join(home, ".gitconfig"), text);
    return findPerson(project, home);
  };
  expect(config(`[user]\nname = ${"x".repeat(40)}`)).toBe("x".repeat(40));
  expect(config(`[user]\nname = ${"x".repeat(41)}`)).toBeNull();
  expect(config("[user]\nname = a b c d e")).toBe("a b c d e");
  expect(config("[user]\nname = a b c d e f")).toBeNull();
  expect(config("[user]\nemail = x\n[remote]\nname = origin")).toBeNull();
  expect(config(`[user]\nname = Ada\n${"#".repeat(100_000)}`)).toBeNull();
});
