import { expect, test } from "vitest";
import { allows, leadingSubjects, toSubject, touches } from "./pattern.ts";

function allowed(pattern: string, command: string): boolean {
  const access = { tool: "shell", groups: [], targets: [{ kind: "command" as const, command }] };
  const subjects = leadingSubjects(access, access.targets.map(toSubject));
  return subjects.every((subject) => allows({ text: pattern }, subject));
}
const touched = (pattern: string, command: string) =>
  touches({ text: pattern }, toSubject({ kind: "command", command }));

test.each([
  ["npm test *", "npm test"],
  ["npm test *", "npm  test -- --watch"],
  ["npm   test *", "npm test a"],
  ["git log:*", "git log"],
  ["git log:*", "git log --oneline"],
  ["git * main", "git push origin main"],
  ["npm test", '"npm" test'],
  ["npm test", "npm test 2>&1"],
  ["npm test", "npm test > /dev/null"],
  ["echo * > log.txt", "echo a b > log.txt"],
  ["npm *", "npm ci && npm test"],
  ["*", "anything at all"],
])("%s allows %j", (pattern, command) => {
  expect(allowed(pattern, command)).toBe(true);
});

test.each([
  ["npm test", "npm test x"],
  ["npm test *", "npm testing"],
  ["git log:*", "git logs"],
  ["npm test *", "npm test; rm -rf /"],
  ["npm test *", "npm test $(rm -rf /)"],
  ["npm test *", "npm test `rm x`"],
  ["npm test *", "npm test\nrm x"],
  ["npm test *", "npm test & rm x"],
  ["npm test *", "npm test <(rm x)"],
  ["npm test *", "npm test ${x:-$(rm x)}"],
  ["npm test *", "npm test ${x:=\\$(rm x)}${x@P}"],
  ["npm test *", "npm test ${x=a[\\$(rm x)]} $((x))"],
  ["npm test *", 'npm test "${x@P}"'],
  ["npm test *", "npm test ${y:-${x:=a[\\$(rm x)]}} $((x))"],
  ["npm test *", "PATH=. npm test"],
  ["npm test *", "env npm test"],
  ["npm test *", "$X npm test"],
  ["npm test *", "npm test 'x"],
  ["echo *", "echo x > file"],
  ["echo *", "echo x >> file"],
  ["echo *", "echo x 2> file"],
  ["echo *", "echo x &> file"],
  ["echo *", "echo x >| file"],
  ["echo *", "echo x >& file"],
  ["echo *", "> file echo x"],
  ["echo * > logs/*", "echo x > /etc/passwd > logs/a"],
  ["echo * > logs/*", "echo x > logs/../../etc/passwd"],
  ["echo * > *", "echo x > $HOME/.bashrc"],
  ["*", "r\\m x"],
  ["*", ""],
])("%s does not allow %j", (pattern, command) => {
  expect(allowed(pattern, command)).toBe(false);
});

test.each([
  ["rm *", "ls; rm -rf x"],
  ["rm *", "/bin/rm x"],
  ["rm *", "RM x"],
  ["rm *", "'r'm x"],
  ["rm *", "r\\m x"],
  ["rm *", "$'\\x72m' x"],
  ["rm *", "sudo -u a env B=1 rm x"],
  ["rm *", "bash -c 'rm x'"],
  ["rm *", "echo $(rm x)"],
  ["rm *", "find . -exec rm {} +"],
  ["rm *", "A=1 rm x > log"],
  ["rm x", "rm x > log"],
  ["git push *", "git \\\n push"],
  ["git push *", "case a in a) git push;; esac"],
  ["git push *", "echo 'git push' | sh"],
  ["git push *", "sh <<X\ngit push\nX"],
  ["curl *", "X=curl; $X curl"],
  ["* --force", "$X"],
  ["rm a b", "rm 'a b'"],
])("a deny on %s holds for %j", (pattern, command) => {
  expect(touched(pattern, command)).toBe(true);
});

test.each([
  ["rm *", "rmdir x"],
  ["git push *", "git pull"],
  ["rm *", "echo rm"],
])("a deny on %s leaves %j alone", (pattern, command) => {
  expect(touched(pattern, command)).toBe(false);
});

test("no pattern makes a long command slow", () => {
  const stars = "a*".repeat(400);
  expect(allowed(`${stars}b`, "a".repeat(100_000))).toBe(false);
  expect(touched(`${stars}b`, `${"a ".repeat(500_000)}c`)).toBe(false);
});
