import { readFile, stat } from "node:fs/promises";
import { relative } from "node:path";
import type { Clock } from "../budget/clock.ts";
import type { AnswerDeliverable, CommandDeliverable, Deliverable, FileDeliverable } from "../schema/agent.ts";
import { checkJson } from "../schema/check-json.ts";
import { messageOf } from "../schema/error.ts";
import type { ChangeKind, DeliverableVerdict } from "../schema/result.ts";
import { combineChanges } from "../schema/subtree.ts";
import { nameForRun } from "../tools/name-for-run.ts";
import { parseAnswer } from "./parse-report.ts";
import type { Run } from "./run.ts";

const MAX_JSON_BYTES = 64 * 1024 * 1024;

/** The name under which the form of an answer is judged. */
export const ANSWER_FORM = "the answer as JSON";

/** How matching files looked when the run began, so that only what it made or changed counts. */
export type Baseline = ReadonlyMap<string, string>;

/** Notes the files that match the run's deliverables before it begins. */
export async function takeBaseline(run: Run): Promise<Baseline> {
  const baseline = new Map<string, string>();
  for (const deliverable of run.spec.deliverables) {
    if (!("file" in deliverable)) continue;
    for (const path of await matching(run, deliverable)) baseline.set(path, await stateOf(path));
  }
  return baseline;
}

/**
 * Who made or changed a file last, with all its ancestors; a sibling's file is not this run's deliverable. The moment is
 * monotonic milliseconds; one before a crash is less than every moment of this process.
 */
export type Claim = {
  line: readonly string[];
  moment: number;
  /** All that became of it so far and by whom, the oldest first; what one run did in a row stands there once. */
  changes: readonly FileChanged[];
};
export type Claims = ReadonlyMap<string, Claim>;

type FileChanged = { readonly line: readonly string[]; readonly kind: ChangeKind };

/** The claim on a file after one more change of it. */
export function claimFile(
  before: Claim | undefined,
  { line, kind, moment }: FileChanged & { moment: number },
): Claim {
  const changes = [...(before?.changes ?? [])];
  const isSame = changes.at(-1)?.line.at(-1) === line.at(-1);
  const net = combineChanges(isSame ? changes.pop()?.kind : undefined, kind);
  return { line, moment, changes: net ? [...changes, { line, kind: net }] : changes };
}

/** Where a run keeps a file: at this path, which is its own from now on, or, if another run has that, at one beside it. */
export function takePath(
  { spec, line }: Pick<Run, "spec" | "line">,
  path: string,
  { claims, clock }: { claims: Map<string, Claim>; clock: Pick<Clock, "monotonicMs"> },
): string {
  const claim = claims.get(path);
  if (claim && !claim.line.includes(spec.runId)) return nameForRun(path, spec.runId);
  if (!claim) claims.set(path, { line, moment: clock.monotonicMs(), changes: [] });
  return path;
}

/** Runs a command as the run's own shell call; null if it exited with 0, else what went wrong. */
export type RunCommand = (command: string, index: number) => Promise<string | null>;

/** The host's own check of everything the run promised; `text` is its answer. */
export async function checkDeliverables(
  run: Run,
  text: string,
  runCommand: RunCommand,
  claims: Claims,
): Promise<DeliverableVerdict[]> {
  const verdicts: DeliverableVerdict[] = [];
  for (const [index, deliverable] of run.spec.deliverables.entries()) {
    if ("file" in deliverable) verdicts.push(await checkFile(run, deliverable, claims));
    else if ("answer" in deliverable) verdicts.push(await checkAnswer(deliverable, text));
    else verdicts.push(await checkCommand(deliverable, index, runCommand));
  }
  return verdicts;
}

/** Why a tool may not run yet: a file that must come before it is not there or not valid. */
export async function missingBefore(
  run: Run,
  tool: string,
  { claims }: { claims: Claims },
): Promise<string | null> {
  for (const deliverable of run.spec.deliverables) {
    if (!("file" in deliverable) || !deliverable.before?.includes(tool)) continue;
    const verdict = await checkFile(run, deliverable, claims);
    if (verdict.ok) continue;
    const maker = [...run.spec.tools.values()].find(({ makes }) => makes === deliverable.file);
    const remedy = maker ? `; call ${maker.name} first, which makes it` : "";
    return `'${tool}' must wait until \`${deliverable.file}\` is there and valid: ${verdict.reason}${remedy}`;
  }
  return null;
}

/** One line on what is missing, in the words a parent and a person see. */
export function complianceError(
  agent: string,
  missed: readonly Pick<DeliverableVerdict, "deliverable" | "reason">[],
): string {
  const missing = missed.map(({ deliverable, reason }) => `\`${deliverable}\` (${reason})`);
  return `COMPLIANCE ERROR: ${agent} did not leave what its contract demands: ${missing.join("; ")}.`;
}

/** The name of a deliverable as people see it. */
export function nameDeliverable(deliverable: Deliverable): string {
  if ("answer" in deliverable) return ANSWER_FORM;
  return "file" in deliverable ? deliverable.file : `$ ${deliverable.command}`;
}

/** Whether a run, or one below it, has left a valid file since a moment at which it was missing. */
export async function isLeftSince(
  run: Run,
  moment: number,
  deliverable: FileDeliverable,
  claims: Claims,
): Promise<boolean> {
  try {
    for (const path of await matching(run, deliverable, claims)) {
      const claim = claims.get(path);
      if (!claim?.line.includes(run.spec.runId) || claim.moment <= moment) continue;
      if ((await faultOf(path, deliverable)) === null) return true;
    }
    return false;
  } catch {
    return false;
  }
}

async function checkFile(
  run: Run,
  deliverable: FileDeliverable,
  claims: Claims,
): Promise<DeliverableVerdict> {
  const verdict = (ok: boolean, reason: string, files: string[] = []): DeliverableVerdict => ({
    deliverable: nameDeliverable(deliverable),
    ok,
    reason,
    files,
  });
  try {
    const all = await matching(run, deliverable, claims);
    if (all.length === 0) return verdict(false, "no such file");
    const own = all.filter((path) => claims.get(path)?.line.includes(run.spec.runId) !== false);
    if (own.length === 0) return verdict(false, "another run made it, and this run made none of its own");
    const changed: string[] = [];
    for (const path of own) if (run.baseline.get(path) !== (await stateOf(path))) changed.push(path);
    if (changed.length === 0)
      return verdict(false, "the file was there before and this run did not change it");
    const names = changed.map((path) => relative(rootOf(run, deliverable).root, path));
    for (const path of changed) {
      const wrong = await faultOf(path, deliverable);
      if (wrong) return verdict(false, wrong, names);
    }
    return verdict(true, changed.length === 1 ? "present" : `${changed.length} files present`, names);
  } catch (thrown) {
    return verdict(false, `could not be checked: ${messageOf(thrown)}`);
  }
}

async function faultOf(path: string, deliverable: FileDeliverable): Promise<string | null> {
  const { size } = await stat(path);
  if (size === 0) return "the file is empty";
  if (!deliverable.schema) return null;
  if (size > MAX_JSON_BYTES) return `the file is larger than ${MAX_JSON_BYTES} bytes`;
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (thrown) {
    return `the file is not valid JSON: ${messageOf(thrown)}`;
  }
  const issues = await checkJson(deliverable.schema, value);
  return issues.length > 0 ? `the file does not fit its schema: ${issues.join("; ")}` : null;
}

async function checkAnswer(deliverable: AnswerDeliverable, text: string): Promise<DeliverableVerdict> {
  const answer = parseAnswer(text);
  const issues = answer.ok ? await checkJson(deliverable.answer, answer.value) : [answer.fault];
  const reason = answer.ok ? `it does not fit the schema: ${issues.join("; ")}` : answer.fault;
  const ok = issues.length === 0;
  return {
    deliverable: nameDeliverable(deliverable),
    ok,
    reason: ok ? "it fits the schema" : reason,
    files: [],
  };
}

async function checkCommand(
  deliverable: CommandDeliverable,
  index: number,
  runCommand: RunCommand,
): Promise<DeliverableVerdict> {
  const wrong = await runCommand(deliverable.command, index);
  return {
    deliverable: nameDeliverable(deliverable),
    ok: wrong === null,
    reason: wrong?.slice(0, 500) ?? "exited with 0",
    files: [],
  };
}

/** The files that a deliverable means, also under the names that this run, or one below it, keeps them by. */
async function matching(
  run: Run,
  deliverable: FileDeliverable,
  claims: Claims = new Map(),
): Promise<string[]> {
  const { root, pattern } = rootOf(run, deliverable);
  const lines = [...claims.values()].map(({ line }) => line).filter((line) => line.includes(run.spec.runId));
  const runs = new Set([run.spec.runId, ...lines.flat()]);
  const { glob } = await import("tinyglobby");
  return glob([pattern, ...[...runs].map((id) => nameForRun(pattern, id))], {
    cwd: root,
    absolute: true,
    dot: true,
    onlyFiles: true,
    followSymbolicLinks: false,
    expandDirectories: false,
  });
}

function rootOf(run: Run, deliverable: FileDeliverable): { root: string; pattern: string } {
  const inProject = deliverable.file.startsWith("project:");
  const pattern = deliverable.file.replace(/^(project|workspace):/, "");
  if (pattern.startsWith("/") || pattern.split("/").includes(".."))
    throw new Error(`'${deliverable.file}' leads outside its folder`);
  return { root: inProject ? run.spec.projectDir : run.spec.workspaceDir, pattern };
}

async function stateOf(path: string): Promise<string> {
  const { size, mtimeMs, ctimeMs, ino } = await stat(path);
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}
