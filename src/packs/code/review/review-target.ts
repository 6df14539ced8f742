import type { OfflineCall } from "../../../models/offline/procedure.ts";
import { taskText } from "../../../models/offline/task-text.ts";
import { queryOf } from "../offline/search-terms.ts";

/** What is to be reviewed. */
export type ReviewTarget =
  | { kind: "commit"; commit: string }
  | { kind: "range"; from: string; to: string }
  | { kind: "staged" }
  | { kind: "working" }
  | { kind: "files"; paths: readonly string[] };

const COUNTS: Readonly<Record<string, number>> = { two: 2, three: 3, four: 4, five: 5, ten: 10 };
const BRANCH = "([A-Za-z][\\w./-]*[\\w])";

/** Reads off a task what it wants reviewed; changes that are not committed yet if it does not say. */
export function targetOf(task: string): ReviewTarget {
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
  const { paths } = queryOf(text);
  const changes = /\b(?:changes?|changed|diff|uncommitted|working (?:tree|copy|folder)|edits?)\b/i.test(text);
  return paths.length > 0 && !changes ? { kind: "files", paths } : { kind: "working" };
}

/** The target as `git_diff` takes it. */
export function diffInput(target: Exclude<ReviewTarget, { kind: "files" }>): OfflineCall["input"] {
  if (target.kind === "commit") return { commit: target.commit };
  if (target.kind === "range") return { from: target.from, to: target.to };
  return target.kind === "staged" ? { staged: true } : {};
}

/** The target in words. */
export function targetText(target: ReviewTarget): string {
  if (target.kind === "commit")
    return target.commit === "HEAD" ? "the last commit" : `commit ${target.commit}`;
  if (target.kind === "range") return `what changed from ${target.from} to ${target.to}`;
  if (target.kind === "files") return target.paths.join(", ");
  return target.kind === "staged" ? "the staged changes" : "the changes that are not committed";
}
