import { needsModel } from "../../../models/offline/offline-words.ts";
import { answerTo, faultsIn, nextCalls } from "../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, PastCall, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { taskText } from "../../../models/offline/task-text.ts";
import { byWorth, commitIn, type Size, sizesIn } from "../review/change-size.ts";
import { asDiff, type FileDiff, readDiff } from "../review/read-diff.ts";
import { type Review, reportReview, reportUnread } from "../review/report-review.ts";
import { reviewDiff, reviewFiles } from "../review/review-diff.ts";
import { diffInput, type ReviewTarget, targetOf, targetText } from "../review/review-target.ts";
import { linesIn } from "./read-code.ts";
import { runTests, testCall } from "./tester.ts";

type Changes = Exclude<ReviewTarget, { kind: "files" }>;

/** Up to so many changed lines a diff is asked for in one piece; beyond, file by file as far as there is room. */
const WHOLE_LINES = 300;
const LINES_IN_ALL = 450;
const MOST_FILES = 8;
const READ_FILES = 5;
const READ_LINES = 400;

/** What a tester would do as well. */
const ASKS_FOR_TESTS =
  /^(?:please\s+)?(?:run|check|verify|see)\b(?:\s+(?:if|that|whether))?\s+(?:the\s+|all\s+)*tests?\b/i;

/** The reviewer: looks at a change, or at whole files, by rules, and says that it was rules. */
export const reviewer: Procedure = {
  agents: ["reviewer"],
  next(situation) {
    const task = taskText(situation.task);
    if (ASKS_FOR_TESTS.test(task)) return runTests(testCall(task), situation);
    const target = targetOf(task);
    if (target.kind === "files") return reviewOfFiles(target.paths, situation);
    if (!situation.tools.includes("git_diff"))
      return {
        cannot: needsModel(
          "review a change without git_diff",
          "review files that a task names, or changes with git_diff",
        ),
      };
    return reviewOfChanges(target, situation);
  },
};

function reviewOfChanges(target: Changes, situation: Situation): Move {
  const stat = { tool: "git_diff", input: { ...diffInput(target), stat: true } };
  const listed = answerTo(situation.calls, stat);
  const sizes = byWorth(sizesIn(listed?.result ?? ""));
  const calls = diffCalls(target, sizes);
  const move = nextCalls(situation, [() => [stat], () => calls]);
  if (move) return move;
  if (sizes.length === 0 && target.kind === "working" && listed?.failed === false)
    return reviewOfChanges({ kind: "commit", commit: "HEAD" }, situation);
  const seen = calls.flatMap((call) => {
    const past = answerTo(situation.calls, call);
    return past && !past.failed ? [past] : [];
  });
  const faults = faultsIn(situation.calls);
  const review = { about: targetText(target), commit: commitIn(listed?.result ?? ""), sizes, faults };
  if (seen.length === 0) return notSeen(review, situation);
  const diffs = seen.filter(({ tool }) => tool === "git_diff").map(({ result }) => readDiff(result));
  const files = [...diffs.flatMap((diff) => diff.files), ...seen.flatMap(wholeFile)];
  return {
    say: reportReview({
      ...review,
      files,
      findings: reviewDiff(files),
      cut: diffs.some(({ cut }) => cut),
    }),
  };
}

/** The whole diff if it is small, else the files worth most, as many as fit; files that git does not know are read. */
function diffCalls(target: Changes, sizes: readonly Size[]): OfflineCall[] {
  const input = diffInput(target);
  const texts = sizes.filter(({ kind }) => kind === "text");
  const reads = sizes
    .filter(({ kind }) => kind === "untracked")
    .slice(0, READ_FILES)
    .map(({ path }) => ({ tool: "read", input: { path, limit: READ_LINES } }));
  const lines = texts.reduce((sum, { added, removed }) => sum + added + removed, 0);
  if (lines <= WHOLE_LINES) return [...(texts.length > 0 ? [{ tool: "git_diff", input }] : []), ...reads];
  let room = LINES_IN_ALL;
  const fitting = texts.filter(({ added, removed }) => {
    const fits = added + removed <= room;
    if (fits) room -= added + removed;
    return fits;
  });
  const chosen = fitting.length > 0 ? fitting.slice(0, MOST_FILES) : texts.slice(0, 1);
  return [...chosen.map(({ path }) => ({ tool: "git_diff", input: { ...input, path } })), ...reads];
}

/** A file that was read as a whole, as if all of it were new. */
function wholeFile({ tool, input, result }: PastCall): FileDiff[] {
  return tool === "read" ? [{ ...asDiff(String(input.path), linesIn(result)), status: "added" }] : [];
}

function notSeen(review: Omit<Review, "files" | "findings" | "cut">, { wrapUp }: Situation): Move {
  const { faults } = review;
  if (faults.length > 0 && !wrapUp)
    return { cannot: `the change could not be looked at: ${faults.join("; ")}` };
  return { say: reportUnread(review) };
}

function reviewOfFiles(paths: readonly string[], situation: Situation): Move {
  const folders = paths.filter((path) => !/\.\w+$/.test(path));
  const globs = situation.tools.includes("glob")
    ? folders.map((path) => ({ tool: "glob", input: { pattern: `${path.replace(/\/$/, "")}/**` } }))
    : [];
  const inFolders = () =>
    globs.flatMap((call) =>
      (answerTo(situation.calls, call)?.result ?? "").split("\n").filter((path) => /^\S+\.\w+$/.test(path)),
    );
  const reads = () =>
    [
      ...paths.filter((path) => /\.\w+$/.test(path)),
      ...byWorth(inFolders().map(unsized)).map(({ path }) => path),
    ]
      .slice(0, READ_FILES)
      .map((path) => ({ tool: "read", input: { path, limit: READ_LINES } }));
  const move = nextCalls(situation, [() => globs, reads]);
  if (move) return move;
  const files = reads().flatMap((call): FileDiff[] => {
    const past = answerTo(situation.calls, call);
    return past && !past.failed ? [asDiff(call.input.path, linesIn(past.result))] : [];
  });
  const faults = faultsIn(situation.calls);
  if (files.length === 0)
    return {
      cannot: `nothing could be read of ${paths.join(", ")}: ${faults.join("; ") || "no files there"}`,
    };
  const cut = reads().some((call) =>
    /^\(\d+ more lines; read on/m.test(answerTo(situation.calls, call)?.result ?? ""),
  );
  const unread = inFolders().length > READ_FILES ? inFolders().map(unsized) : [];
  return {
    say: reportReview({
      about: paths.join(", "),
      files,
      sizes: unread,
      findings: reviewFiles(files),
      cut,
      faults,
    }),
  };
}

function unsized(path: string): Size {
  return { path, added: 0, removed: 0, kind: "text" };
}
