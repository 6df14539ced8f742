import { fenceCode } from "../offline/fence-code.ts";
import type { Size } from "./change-size.ts";
import type { Finding, Severity } from "./finding.ts";
import type { FileDiff } from "./read-diff.ts";

/** A review that is done. */
export type Review = {
  /** What was reviewed, in words. */
  about: string;
  commit?: { id: string; subject: string } | undefined;
  files: readonly FileDiff[];
  /** Everything that changed, looked into or not. */
  sizes: readonly Size[];
  findings: readonly Finding[];
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
export function reportReview(review: Review): string {
  const { findings, files, faults, cut } = review;
  const kept = limited(findings);
  const left = findings.length - kept.length;
  const [worst] = kept;
  const sections = [
    `**Summary**: Reviewed ${subjectOf(review)}: ${countsOf(findings)}.${worst ? ` Worst: ${placeOf(worst)} ${worst.what}.` : ""} By rules, not by judgement.`,
    "**Details**",
    kept.map(lineOf).join("\n") || "No rule found anything.",
    left > 0 ? `${left} more of the same kinds.` : "",
    `Looked at: ${files.map(({ path, status }) => (status === "modified" ? path : `${path} (${status})`)).join(", ")}.`,
    unseenOf(review),
    cut ? "A part of what was looked at was too long and is missing; there may be more findings." : "",
    didNotWork(faults),
    BY_RULES,
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** What is said of a change of which nothing was read: what it is, and which of its files a person must look at. */
export function reportUnread(review: Omit<Review, "files" | "findings" | "cut">): string {
  const { sizes, faults } = review;
  const subject = subjectOf({ ...review, files: [] });
  const isText = sizes.some(({ kind }) => kind !== "binary");
  const why = sizes.length > 0 ? ": no file of it holds text" : "";
  const sections = [
    `**Summary**: ${isText ? `Nothing of ${subject} was read, so that nothing was reviewed` : `There is nothing to review in ${subject}${why}`}.`,
    unseenOf({ ...review, files: [] }),
    didNotWork(faults),
  ];
  return sections.filter(Boolean).join("\n\n");
}

function didNotWork(faults: readonly string[]): string {
  return faults.length > 0 ? `Did not work:\n${faults.map((fault) => `- ${fault}`).join("\n")}` : "";
}

function subjectOf({
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

function countsOf(findings: readonly Finding[]): string {
  const of = (severity: Severity) => findings.filter((each) => each.severity === severity).length;
  if (findings.length === 0) return "nothing found";
  return `${of("high")} high, ${of("medium")} medium, ${of("low")} low`;
}

/** At most a few of one kind in one file, so that one habit does not hide the rest. */
function limited(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, number>();
  return findings
    .filter(({ path, what }) => {
      const key = `${path} ${what.replace(/`\w+`/g, "")}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      return (seen.get(key) ?? 0) <= SAME_KIND;
    })
    .slice(0, MAX_FINDINGS);
}

function lineOf(finding: Finding): string {
  const { severity, what, line = "" } = finding;
  const quote = line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE - 1)}…` : line;
  return [`- ${severity}: ${placeOf(finding)} ${what}`, ...fenceCode(quote ? [quote] : [], "  ")].join("\n");
}

function placeOf({ path, at }: Finding): string {
  return at > 0 ? `${path}:${at}` : path;
}

function unseenOf({ files, sizes }: Pick<Review, "files" | "sizes">): string {
  const seen = new Set(files.map(({ path }) => path));
  const unseen = sizes.filter(({ path }) => !seen.has(path));
  if (unseen.length === 0) return "";
  const left = unseen.length - MAX_UNSEEN;
  const names = unseen.slice(0, MAX_UNSEEN).map(({ path }) => path);
  return `Not looked at: ${names.join(", ")}${left > 0 ? ` and ${left} more` : ""}.`;
}
