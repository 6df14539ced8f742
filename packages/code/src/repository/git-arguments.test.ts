import fc from "fast-check";
import { expect, test } from "vitest";
import { isRevision, parseArguments, splitObject } from "./git-arguments.ts";
import { GIT_COMMANDS, type GitCommand } from "./read-commands.ts";

const parse = (command: GitCommand, ...args: string[]) =>
  parseArguments(command, GIT_COMMANDS[command], args);

test("options, revisions and paths are told apart, and values are spelled in one way", () => {
  expect(parse("log", "-5", "--author", "Ada", "main", "--", "src")).toEqual({
    options: ["--max-count=5", "--author=Ada"],
    words: ["main"],
    paths: ["src"],
  });
  expect(parse("status", "src", "--", "test")).toEqual({ options: [], words: [], paths: ["src", "test"] });
});

test.each<[GitCommand, string[], string]>([
  ["log", ["--output=x"], "the option '--output' is not allowed"],
  ["log", ["--exec=touch made"], "the option '--exec' is not allowed"],
  ["log", ["--format=%GG"], "'--format' needs a format"],
  ["diff", ["--no-index", "a", "b"], "the option '--no-index' is not allowed"],
  ["diff", ["a", "b", "c"], "'c' is one argument too many; paths come after --"],
  ["show", ["HEAD:a", "x:y:z\n"], ""],
  ["log", ["HEAD:secret"], "'HEAD:secret' is not a revision"],
  ["branch", ["new"], "'new' is one argument too many"],
  ["merge-base", ["a", "b", "--", "c"], "takes no paths"],
])("git %s %j is refused, if at all, with what is wrong", (command, args, why) => {
  const parsed = parse(command, ...args);
  if (why === "") expect(typeof parsed).toBe("object");
  else expect(parsed).toContain(`git ${command}: `);
  if (why !== "") expect(parsed).toContain(why);
});

test("no text is a revision that git would take for an option or that names a path", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(isRevision(`-${text}`)).toBe(false);
      expect(isRevision(`HEAD:${text}`)).toBe(false);
      expect(isRevision(`${text}\0`)).toBe(false);
    }),
  );
});

test("of revision:path only the first colon divides", () => {
  expect(splitObject("HEAD:a:b")).toEqual({ revision: "HEAD", path: "a:b" });
  expect(splitObject("HEAD")).toEqual({ revision: "HEAD" });
});
