import { readQuery } from "@retinue/code/survey/search-query";
import {
  findAnswer,
  findNextCalls,
  findResult,
  listAnswered,
  listFaults,
  type OfflineCall,
  type OfflineMove,
  type Procedure,
  reportFaults,
  type Situation,
  taskText,
} from "./conversation.ts";
import { cutShort, needsModel } from "./offline-words.ts";
import { fenceCode, readNumberedLines } from "./read-code.ts";
import {
  type ChangeSize,
  type FileDiff,
  readCommit,
  readDiff,
  readSizes,
  sortByWorth,
  toDiff,
} from "./read-diff.ts";
import { type ReviewFinding, reviewDiff, reviewFiles, type Severity } from "./review-rules.ts";
import { isFile } from "./source-line.ts";
import { runTests, testCall } from "./tester.ts";

type Changes = Exclude<ReviewTarget, { kind: "files" }>;

/** Up to so many changed lines a diff is asked for in one piece; beyond, file by file as far as there is room. */
const WHOLE_LINES = 300;
const LINES_IN_ALL = 450;
const MOST_FILES = 8;
const READ_FILES = 5;
const READ_LINES = 400;

/** Requests that a tester takes as well. */
const ASKS_FOR_TESTS =
  /^(?:please\s+)?(?:run|check|verify|see)\b(?:\s+(?:if|that|whether))?\s+(?:the\s+|all\s+)*tests?\b/i;

/** The reviewer: looks at a change, or at whole files, by rules, and says that it was rules. */
export const reviewer: Procedure = {
  agents: ["reviewer"],
  next(situation) {
    const task = taskText(situation.task);
    if (ASKS_FOR_TESTS.test(task)) return runTests(testCall(task), situation);
    const target = readTarget(task);
    if (target.kind === "files") return reviewNamedFiles(target.paths, situation);
    if (!situation.tools.includes("git_diff"))
      return {
        cannot: needsModel(
          "review a change without git_diff",
          "review files that a task names, or changes with git_diff",
        ),
      };
    return reviewChanges(target, situation);
  },
};

function reviewChanges(target: Changes, situation: Situation): OfflineMove {
  const stat = { tool: "git_diff", input: { ...makeDiffInput(target), stat: true } };
  const listed = findAnswer(situation.calls, stat);
  if (situation.condensed && !listed)
    return { cannot: "the change was longer than the conversation can be; name one of its files to review" };
  const sizes = sortByWorth(readSizes(listed?.result ?? ""));
  const calls = planDiffs(target, sizes);
  const move = findNextCalls(situation, [() => [stat], () => calls]);
  if (move) return move;
  if (sizes.length === 0 && target.kind === "working" && listed?.failed === false)
    return reviewChanges({ kind: "commit", commit: "HEAD" }, situation);
  const seen = listAnswered(situation.calls, calls);
  const faults = listFaults(situation.calls);
  const review = { about: describeTarget(target), commit: readCommit(listed?.result ?? ""), sizes, faults };
  if (seen.length === 0)
    return faults.length > 0 && !situation.wrapUp
      ? { cannot: `the change could not be looked at: ${faults.join("; ")}` }
      : { say: reportUnread(review) };
  const diffs = seen.filter(({ tool }) => tool === "git_diff").map(({ result }) => readDiff(result));
  const reads = seen
    .filter(({ tool }) => tool === "read")
    .map(
      ({ input, result }): FileDiff => ({
        ...toDiff(String(input.path), readNumberedLines(result)),
        status: "added",
      }),
    );
  const files = [...diffs.flatMap((diff) => diff.files), ...reads];
  return {
    say: reportReview({ ...review, files, findings: reviewDiff(files), cut: diffs.some(({ cut }) => cut) }),
  };
}

/** The whole diff if it is small, else the files worth most, as many as fit; files that git does not know are read. */
function planDiffs(target: Changes, sizes: readonly ChangeSize[]): OfflineCall[] {
  const input = makeDiffInput(target);
  const countLines = ({ added, removed }: ChangeSize) => added + removed;
  const texts = sizes.filter(({ kind }) => kind === "text" || kind === "renamed");
  const reads = sizes
    .filter(({ kind }) => kind === "untracked")
    .slice(0, READ_FILES)
    .map(({ path }) => readCall(path));
  const lines = texts.reduce((sum, size) => sum + countLines(size), 0);
  if (lines <= WHOLE_LINES) return [...(texts.length > 0 ? [{ tool: "git_diff", input }] : []), ...reads];
  const own = texts.filter(({ kind }) => kind === "text");
  let room = LINES_IN_ALL;
  const fitting = own.filter((size) => {
    const fits = countLines(size) <= room;
    if (fits) room -= countLines(size);
    return fits;
  });
  const chosen = fitting.length > 0 ? fitting.slice(0, MOST_FILES) : own.slice(0, 1);
  return [...chosen.map(({ path }) => ({ tool: "git_diff", input: { ...input, path } })), ...reads];
}

function readCall(path: string): OfflineCall {
  return { tool: "read", input: { path, limit: READ_LINES } };
}

function reviewNamedFiles(paths: readonly string[], situation: Situation): OfflineMove {
  const globs = paths
    .filter((path) => !isFile(path) && situation.tools.includes("glob"))
    .map((path) => ({ tool: "glob", input: { pattern: `${path.replace(/\/$/, "")}/**` } }));
  const listFound = () =>
    globs
      .flatMap((call) => findResult(situation.calls, call).split("\n"))
      .filter((path) => /^\S+\.\w+$/.test(path))
      .map((path): ChangeSize => ({ path, added: 0, removed: 0, kind: "text" }));
  const planReads = () =>
    [...paths.filter(isFile), ...sortByWorth(listFound()).map(({ path }) => path)]
      .slice(0, READ_FILES)
      .map(readCall);
  const move = findNextCalls(situation, [() => globs, planReads]);
  if (move) return move;
  const reads = planReads();
  const files = listAnswered(situation.calls, reads).map(({ input, result }) =>
    toDiff(String(input.path), readNumberedLines(result)),
  );
  const faults = listFaults(situation.calls);
  if (files.length === 0)
    return {
      cannot: `nothing could be read of ${paths.join(", ")}: ${faults.join("; ") || "no files there"}`,
    };
  const found = listFound();
  return {
    say: reportReview({
      about: paths.join(", "),
      files,
      sizes: found.length > READ_FILES ? found : [],
      findings: reviewFiles(files),
      cut: reads.some((call) => /^\(\d+ more lines; read on/m.test(findResult(situation.calls, call))),
      faults,
    }),
  };
}

/** What is to be reviewed. */
type ReviewTarget =
  | { kind: "commit"; commit: string }
  | { kind: "range"; from: string; to: string }
  | { kind: "staged" }
  | { kind: "working" }
  | { kind: "files"; paths: readonly string[] };

const COUNTS: Readonly<Record<string, number>> = { two: 2, three: 3, four: 4, five: 5, ten: 10 };
const BRANCH = "([A-Za-z][\\w./-]*[\\w])";

/** Reads off a task what it wants reviewed; changes that are not committed yet if it does not say. */
export function readTarget(task: string): ReviewTarget {
  const text = taskText(task);
  const [, several] = /\blast\s+(\d{1,2}|two|three|four|five|ten)\s+commits\b/i.exec(text) ?? [];
  if (several) return { kind: "range", from: `HEAD~${COUNTS[several.toLowerCase()] ?? several}`, to: "HEAD" };
  const [, from, to] = /\b([\w./~^-]+[\w~^])\.\.\.?([\w./~^-]+)/.exec(text) ?? [];
  if (from && to && !/\.\w+$/.test(from)) return { kind: "range", from, to };
  const [, named] =
    /\bcommit\s+([0-9a-f]{7,40}|HEAD(?:[~^]\d*)*)\b/i.exec(text) ??
    /\b([0-9a-f]{10,40}|HEAD(?:[~^]\d*)+)\b/.exec(text) ??
    [];
  if (named) return { kind: "commit", commit: named };
  if (/\b(?:last|latest|newest|most recent|previous|recent|this) commit\b|\bHEAD\b/i.test(text))
    return { kind: "commit", commit: "HEAD" };
  const [, base] =
    new RegExp(`\\b(?:against|since|compared (?:to|with))\\s+(?:the\\s+)?(?:branch\\s+)?${BRANCH}`, "i").exec(
      text,
    ) ?? [];
  if (base) return { kind: "range", from: base, to: "HEAD" };
  if (/\bstaged\b/i.test(text)) return { kind: "staged" };
  const { paths } = readQuery(text);
  const changes = /\b(?:changes?|changed|diff|uncommitted|working (?:tree|copy|folder)|edits?)\b/i.test(text);
  return paths.length > 0 && !changes ? { kind: "files", paths } : { kind: "working" };
}

/** The target as `git_diff` takes it. */
function makeDiffInput(target: Changes): OfflineCall["input"] {
  if (target.kind === "commit") return { commit: target.commit };
  if (target.kind === "range") return { from: target.from, to: target.to };
  return target.kind === "staged" ? { staged: true } : {};
}

/** The target in words. */
function describeTarget(target: Changes): string {
  if (target.kind === "commit")
    return target.commit === "HEAD" ? "the last commit" : `commit ${target.commit}`;
  if (target.kind === "range") return `what changed from ${target.from} to ${target.to}`;
  return target.kind === "staged" ? "the staged changes" : "the changes that are not committed";
}

/** A review that is done. */
type Review = {
  /** What was reviewed, in words. */
  about: string;
  commit?: { id: string; subject: string } | undefined;
  files: readonly FileDiff[];
  /** Everything that changed, looked into or not. */
  sizes: readonly ChangeSize[];
  findings: readonly ReviewFinding[];
  /** Some of what was looked at was left out on the way. */
  cut: boolean;
  faults: readonly string[];
};

const MAX_FINDINGS = 25;
const SAME_KIND = 4;
const MAX_QUOTE = 140;
const MAX_UNSEEN = 8;
const BY_RULES =
  "This is a review by rules: they know patterns that often go with defects, not what the change means. Whether it is right, a person or a model must judge.";

/** The findings with file and line, worst first, and what was and was not looked at. */
function reportReview(review: Review): string {
  const { findings, files, faults, cut } = review;
  const kept = limitFindings(findings);
  const left = findings.length - kept.length;
  const [worst] = kept;
  const sections = [
    `**Summary**: Reviewed ${nameSubject(review)}: ${countFindings(findings)}.${worst ? ` Worst: ${formatFindingPlace(worst)} ${worst.what}.` : ""} By rules, not by judgement.`,
    "**Details**",
    kept.map(formatFinding).join("\n") || "No rule found anything.",
    left > 0 ? `${left} more of the same kinds.` : "",
    `Looked at: ${files.map(({ path, status }) => (status === "modified" ? path : `${path} (${status})`)).join(", ")}.`,
    listUnseen(review),
    cut ? "A part of what was looked at was too long and is missing; there may be more findings." : "",
    reportFaults(faults),
    BY_RULES,
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** The report on a change of which nothing was read: what it is, and which files a person must look at. */
export function reportUnread(review: Omit<Review, "files" | "findings" | "cut">): string {
  const { sizes, faults } = review;
  const subject = nameSubject({ ...review, files: [] });
  const isText = sizes.some(({ kind }) => kind !== "binary");
  const why = sizes.length > 0 ? ": no file of it holds text" : "";
  const sections = [
    `**Summary**: ${isText ? `Nothing of ${subject} was read, so that nothing was reviewed` : `There is nothing to review in ${subject}${why}`}.`,
    listUnseen({ ...review, files: [] }),
    reportFaults(faults),
  ];
  return sections.filter(Boolean).join("\n\n");
}

function nameSubject({
  about,
  commit,
  files,
  sizes,
}: Pick<Review, "about" | "commit" | "files" | "sizes">): string {
  const named = commit ? `${about}, ${commit.id}${commit.subject ? ` “${commit.subject}”` : ""},` : about;
  const all = sizes.length > 0 ? sizes : null;
  const added = all?.reduce((sum, size) => sum + size.added, 0) ?? 0;
  const removed = all?.reduce((sum, size) => sum + size.removed, 0) ?? 0;
  const lines = added + removed > 0 ? `, +${added} −${removed} lines` : "";
  const count = all?.length ?? files.length;
  return `${named} (${count} ${count === 1 ? "file" : "files"}${lines})`.replace(", (", " (");
}

function countFindings(findings: readonly ReviewFinding[]): string {
  const count = (severity: Severity) => findings.filter((each) => each.severity === severity).length;
  if (findings.length === 0) return "nothing found";
  return `${count("high")} high, ${count("medium")} medium, ${count("low")} low`;
}

/** At most a few of one kind in one file, so that one kind does not hide the others. */
function limitFindings(findings: readonly ReviewFinding[]): ReviewFinding[] {
  const seen = new Map<string, number>();
  return findings
    .filter(({ path, what }) => {
      const key = `${path} ${what.replace(/`\w+`/g, "")}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      return (seen.get(key) ?? 0) <= SAME_KIND;
    })
    .slice(0, MAX_FINDINGS);
}

function formatFinding(finding: ReviewFinding): string {
  const { severity, what, line = "" } = finding;
  const quote = cutShort(line, MAX_QUOTE);
  return [
    `- ${severity}: ${formatFindingPlace(finding)} ${what}`,
    ...fenceCode(quote ? [quote] : [], "  "),
  ].join("\n");
}

function formatFindingPlace({ path, at }: ReviewFinding): string {
  return at > 0 ? `${path}:${at}` : path;
}

function listUnseen({ files, sizes }: Pick<Review, "files" | "sizes">): string {
  const seen = new Set(files.map(({ path }) => path));
  const unseen = sizes.filter(({ path }) => !seen.has(path));
  if (unseen.length === 0) return "";
  const left = unseen.length - MAX_UNSEEN;
  const names = unseen.slice(0, MAX_UNSEEN).map(({ path }) => path);
  return `Not looked at: ${names.join(", ")}${left > 0 ? ` and ${left} more` : ""}.`;
}
