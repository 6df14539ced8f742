import { expect, test } from "vitest";
import { readCommand } from "./split-command.ts";

/** The parts of a command as texts, and whether some of it could not be understood. */
function splitCommand(command: string): { parts: string[]; opaque: boolean } {
  const { parts, opaque } = readCommand(command);
  return { parts: parts.map(({ text }) => text), opaque };
}

const plain: [command: string, parts: string[]][] = [
  ["npm test", ["npm test"]],
  ["  npm   test\t-- x ", ["npm test -- x"]],
  ["a; b & c && d || e | f |& g\nh", ["a", "b", "c", "d", "e", "f", "g", "h"]],
  ["(a; b)", ["a", "b"]],
  ["{ a; b; }", ["a", "b"]],
  ["echo $(rm x)", ["rm x", 'echo "$(rm x)"']],
  ['echo "$(rm x)"', ["rm x", 'echo "$(rm x)"']],
  ["echo `rm x`", ["rm x", 'echo "`rm x`"']],
  ["diff <(ls a) <(ls b)", ["ls a", "ls b", 'diff "<(ls a)" "<(ls b)"']],
  ["tee >(wc -l)", ["wc -l", 'tee ">(wc -l)"']],
  ["echo ${x:-$(rm y)}", ["rm y", 'echo "${x:-$(rm y)}"']],
  ["if a; then b; else c; fi", ["a", "b", "c"]],
  ["while a; do b; done", ["a", "b"]],
  ["for x in $(ls); do rm x; done", ["ls", "rm x"]],
  ["! a", ["a"]],
  ["gi\\\nt log", ["git log"]],
  ["git \\\n log", ["git log"]],
  ["a # b; c", ["a"]],
  ["a #b\nc", ["a", "c"]],
  ["echo a#b", ["echo a#b"]],
  [`"git" 'log'`, ["git log"]],
  [`git commit -m "a; rm -rf /"`, [`git commit -m "a; rm -rf /"`]],
  ["A=1 cmd", ["A=1 cmd", "cmd"]],
  ["CI=1 npm test", ["npm test"]],
  ["A=1", ["A=1"]],
  ["npm test 2>&1 >/dev/null", ["npm test"]],
  ["a > out.txt", ["a > out.txt"]],
  ["a 2>>log", ["a 2>> log"]],
  ["a &> log", ["a &> log"]],
  ["> out a", ["a > out"]],
  ["(a) > out", ["a", "> out"]],
  ["cat < in", ["cat < in"]],
  ["cat <<EOF\nrm x\n$(rm y)\nEOF\nb", ["cat << EOF", "rm y", "b"]],
  ["cat <<'EOF'\n$(rm y)\nEOF\nb", ["cat << EOF", "b"]],
  ["cat <<-EOF\n\tx\n\tEOF\nb", ["cat <<- EOF", "b"]],
];

test.each(plain)("%j is split into the commands it runs", (command, parts) => {
  const split = splitCommand(command);
  expect({ ...split, parts: split.parts.toSorted() }).toEqual({
    parts: parts.toSorted(),
    opaque: false,
  });
});

const wrapped: [command: string, inner: string][] = [
  ["env A=1 rm x", "rm x"],
  ["env -i -u B rm x", "rm x"],
  ["sudo -u root rm x", "rm x"],
  ["sudo -n env nice -n 5 rm x", "rm x"],
  ["nohup rm x &", "rm x"],
  ["time -p rm x", "rm x"],
  ["timeout -k 5 10 rm x", "rm x"],
  ["xargs -0 -n 1 rm x", "rm x"],
  ["ls | xargs rm", "rm"],
  ["find . -name '*.ts' -exec rm x {} \\;", "rm x {}"],
  ["find . -exec a + -execdir rm x ';'", "rm x"],
  [`bash -c "rm x"`, "rm x"],
  [`bash -lc 'a && rm x'`, "rm x"],
  ["/bin/sh -o pipefail -c 'rm x'", "rm x"],
  [`bash -c "bash -c 'rm x'"`, "rm x"],
  ["eval rm x", "rm x"],
  ["eval 'a; rm' x", "rm x"],
  ["command rm x", "rm x"],
  ["exec -a y rm x", "rm x"],
  ["nice -10 rm x", "rm x"],
  ["watch -n 1 rm x", "rm x"],
  ["trap 'rm x' EXIT", "rm x"],
  ["busybox rm x", "rm x"],
];

test.each(wrapped)("%j also counts as the command it starts", (command, inner) => {
  const split = splitCommand(command);
  expect(split.parts).toContain(inner);
  expect(split.parts.length).toBeGreaterThan(1);
  expect(split.opaque).toBe(false);
});

test("looking a command up does not start it", () => {
  expect(splitCommand("command -v node")).toEqual({ parts: ["command -v node"], opaque: false });
});

const opaque = [
  "echo 'a",
  'echo "a',
  "echo `a",
  "echo $(a",
  "(a",
  "a)",
  "$'\\x72m' x",
  "$CMD x",
  "$(echo rm) x",
  "`echo rm` x",
  "{rm,-rf,x}",
  "/bin/r? x",
  "r\\m x",
  "/bin/[r]m x",
  '"git log" x',
  '"" x',
  "f() { rm x; }",
  "case x in a) rm x;; esac",
  'bash -c "$X"',
  "eval $X",
  "echo x | sh",
  "bash -s < x",
  "bash <<EOF\nrm x\nEOF",
  "sudo --weird x rm y",
  "sudo -Z x rm y",
  "find . -exec sh -c 'rm {}' \\;",
  "xargs -I{} bash -c '{}'",
  "find . -exec rm {}",
  "cat <<EOF\nno end",
  "a\0b",
  "a\r\nb",
  "echo ${x:-'}'} ; rm y",
  "parallel rm ::: x",
  "echo >",
  "a=(1 2)",
];

test.each(opaque)("%j is not taken to be understood", (command) => {
  expect(splitCommand(command).opaque).toBe(true);
});

test("a hidden program name is still listed when its spelling can be undone", () => {
  expect(splitCommand("r\\m x").parts).toEqual(["rm x"]);
  expect(splitCommand("$'\\x72\\155' x").parts).toEqual(["rm x"]);
});

test("nothing to run gives no parts", () => {
  expect(splitCommand("")).toEqual({ parts: [], opaque: false });
  expect(splitCommand(" # only a comment")).toEqual({ parts: [], opaque: false });
});

const huge: [name: string, command: string][] = [
  ["one long word", "a".repeat(1_000_000)],
  ["many commands", "a;".repeat(500_000)],
  ["many wrappers", `${"sudo ".repeat(200_000)}rm`],
  ["deep substitutions", "$(".repeat(300_000)],
  ["deep brackets", "(".repeat(1_000_000)],
  ["nested evaluation", `${'eval "$('.repeat(5_000)}a${')"'.repeat(5_000)}`],
  ["nested backticks", "`\\`".repeat(300_000)],
  ["many here-documents", "cat <<a\n".repeat(120_000)],
  ["many finds", `find ${"-exec a ; ".replace(";", "\\;").repeat(80_000)}`],
  ["open quotes", `"'`.repeat(500_000)],
  ["open expansions", "${".repeat(500_000)],
];

test.each(huge)("a megabyte of %s is read once and not for ever", (_, command) => {
  expect(splitCommand(command).parts.length).toBeLessThanOrEqual(10_001);
});

test("a text with a NUL is not understood: what a shell makes of it differs", () => {
  expect(splitCommand("echo 'a\0b'").opaque).toBe(true);
});
