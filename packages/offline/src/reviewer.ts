import { readQuery } from "@retinue/code/survey/search-query";
import { showCount } from "@retinue/core/show/measures";
import {
  findAnswer,
  findNextCalls,
  findResult,
  listAnswered,
  listFaults,
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Procedure,
  reportFaults,
  type Situation,
  taskText,
} from "./conversation.ts";
import { cutShort, needsModel } from "./offline-words.ts";
import { fenceCode, readNumberedLines } from "./read-code.ts";
import {
  type FileDiff,
  type ListedChange,
  readCommit,
  readDiff,
  readListedChanges,
  toDiff,
} from "./read-diff.ts";
import { type ReviewFinding, reviewDiff, reviewFiles, type Severity } from "./review-rules.ts";
import { classifyFile, isFile } from "./source-line.ts";

type Changes = Exclude<ReviewTarget, { kind: "files" }>;

const READ_FILES = 5;
const READ_LINES = 400;

/** The reviewer: looks at a change, or at whole files, by rules, and says that it was rules. */
export const reviewer: Procedure = {
  agents: ["reviewer"],
  next(situation) {
    const target = readTarget(taskText(situation.task));
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

/** The diff as far as it is given, and new files that git does not know yet. */
function reviewChanges(target: Changes, situation: Situation): OfflineMove {
  const call = { tool: "git_diff", input: makeDiffInput(target) };
  const changed = () => readListedChanges(findResult(situation.calls, call));
  const readNew = () =>
    changed()
      .filter(({ kind }) => kind === "untracked")
      .slice(0, READ_FILES)
      .map(readCall);
  const move = findNextCalls(situation, [() => [call], readNew]);
  if (move) return move;
  const answer = findAnswer(situation.calls, call);
  const faults = listFaults(situation.calls);
  if (!answer || answer.failed)
    return {
      cannot: `the change could not be looked at: ${faults.join("; ") || "it is longer than the conversation can be; name one of its files"}`,
    };
  if (changed().length === 0 && target.kind === "working")
    return reviewChanges({ kind: "commit", commit: "HEAD" }, situation);
  const { files: diffed, cut } = readDiff(answer.result);
  const files = [
    ...diffed.filter(({ binary }) => !binary),
    ...listAnswered(situation.calls, readNew()).map(
      (read): FileDiff => ({ ...readWhole(read), status: "added" }),
    ),
  ];
  return {
    say: reportReview({
      about: describeTarget(target),
      commit: readCommit(answer.result),
      files,
      changed: changed(),
      findings: reviewDiff(files),
      cut,
      faults,
    }),
  };
}

function readCall({ path }: Pick<ListedChange, "path">): OfflineCall {
  return { tool: "read", input: { path, limit: READ_LINES } };
}

function readWhole({ input, result }: PastCall): FileDiff {
  return toDiff(String(input.path), readNumberedLines(result));
}

/** Reviews the files that a task names, and of a folder's the first ones, sources before all others. */
function reviewNamedFiles(paths: readonly string[], situation: Situation): OfflineMove {
  const globs = paths
    .filter((path) => !isFile(path) && situation.tools.includes("glob"))
    .map((path) => ({ tool: "glob", input: { pattern: `${path.replace(/\/$/, "")}/**` } }));
  const listFound = () =>
    globs
      .flatMap((call) => findResult(situation.calls, call).split("\n"))
      .filter((path) => /^\S+\.\w+$/.test(path))
      .toSorted((a, b) => Number(classifyFile(b) === "source") - Number(classifyFile(a) === "source"));
  const planReads = () =>
    [...paths.filter(isFile), ...listFound()].slice(0, READ_FILES).map((path) => readCall({ path }));
  const move = findNextCalls(situation, [() => globs, planReads]);
  if (move) return move;
  const reads = listAnswered(situation.calls, planReads());
  const files = reads.map(readWhole);
  const faults = listFaults(situation.calls);
  if (files.length === 0)
    return {
      cannot: `nothing could be read of ${paths.join(", ")}: ${faults.join("; ") || "no files there"}`,
    };
  return {
    say: reportReview({
      about: paths.join(", "),
      files,
      changed: listFound().map((path) => ({ path, added: 0, removed: 0, kind: "text" })),
      findings: reviewFiles(files),
      cut: reads.some(({ result }) => /^\(\d+ more lines; read on/m.test(result)),
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
  changed: readonly ListedChange[];
  findings: readonly ReviewFinding[];
  /** Some of what was looked at was left out on the way. */
  cut: boolean;
  faults: readonly string[];
};

const MAX_FINDINGS = 25;
const MAX_QUOTE = 140;
const MAX_UNSEEN = 8;
const BY_RULES =
  "This is a review by rules: they know patterns that often go with defects, not what the change means. Whether it is right, a person or a model must judge.";

/** The findings with file and line, worst first, and what was and was not looked at. */
export function reportReview(review: Review): string {
  const { findings, files, changed, faults, cut } = review;
  const left = findings.length - MAX_FINDINGS;
  const [worst] = findings;
  const subject = nameSubject(review);
  const summary = `Reviewed ${subject}: ${countFindings(findings)}.${worst ? ` Worst: ${formatFindingPlace(worst)} ${worst.what}.` : ""} By rules, not by judgement.`;
  const isText = changed.some(({ kind }) => kind !== "binary");
  const nothing = isText
    ? `Nothing of ${subject} was read, so that nothing was reviewed.`
    : `There is nothing to review in ${subject}${changed.length > 0 ? ": no file of it holds text" : ""}.`;
  const seen = files.map(({ path, status }) => (status === "modified" ? path : `${path} (${status})`));
  const details = [
    "**Details**",
    findings.slice(0, MAX_FINDINGS).map(formatFinding).join("\n") || "No rule found anything.",
    left > 0 ? `${left} more, none of them worse.` : "",
    `Looked at: ${seen.join(", ")}.`,
  ];
  const sections = [
    `**Summary**: ${files.length > 0 ? summary : nothing}`,
    ...(files.length > 0 ? details : []),
    listUnseen(review),
    cut ? "A part of what was looked at was too long and is missing; there may be more findings." : "",
    reportFaults(faults),
    files.length > 0 ? BY_RULES : "",
  ];
  return sections.filter(Boolean).join("\n\n");
}

function nameSubject({ about, commit, files, changed }: Review): string {
  const named = commit ? `${about}, ${commit.id}${commit.subject ? ` “${commit.subject}”` : ""}` : about;
  const added = changed.reduce((sum, file) => sum + file.added, 0);
  const removed = changed.reduce((sum, file) => sum + file.removed, 0);
  const lines = added + removed > 0 ? `, +${added} −${removed} lines` : "";
  return `${named} (${showCount(changed.length || files.length, "file")}${lines})`;
}

function countFindings(findings: readonly ReviewFinding[]): string {
  const count = (severity: Severity) => findings.filter((each) => each.severity === severity).length;
  if (findings.length === 0) return "nothing found";
  return `${count("high")} high, ${count("medium")} medium, ${count("low")} low`;
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

function listUnseen({ files, changed }: Review): string {
  const seen = new Set(files.map(({ path }) => path));
  const unseen = changed.map(({ path }) => path).filter((path) => !seen.has(path));
  if (unseen.length === 0) return "";
  const left = unseen.length - MAX_UNSEEN;
  return `Not looked at: ${unseen.slice(0, MAX_UNSEEN).join(", ")}${left > 0 ? ` and ${left} more` : ""}.`;
}
