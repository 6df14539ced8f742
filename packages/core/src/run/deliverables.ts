import { readFile, stat } from "node:fs/promises";
import { relative } from "node:path";
import type { AnswerDeliverable, CommandDeliverable, Deliverable, FileDeliverable } from "../schema/agent.ts";
import { checkJson } from "../schema/check-json.ts";
import { messageOf } from "../schema/error.ts";
import type { DeliverableVerdict, RunError } from "../schema/result.ts";
import { nameForRun } from "../tools/name-for-run.ts";
import type { Ending } from "./outcome.ts";
import { parseAnswer } from "./parse-report.ts";
import type { Baseline, Run, RunCommand } from "./run.ts";

const MAX_JSON_BYTES = 64 * 1024 * 1024;

/** The name under which the form of an answer is judged. */
export const ANSWER_FORM = "the answer as JSON";

/** Notes the files that match the run's deliverables before it begins. */
export async function takeBaseline(run: Run): Promise<Baseline> {
  const baseline = new Map<string, string>();
  for (const deliverable of run.deliverables) {
    if (!("file" in deliverable)) continue;
    for (const path of await matching(run, deliverable)) baseline.set(path, await stateOf(path));
  }
  return baseline;
}

/** The host's own check of everything the run promised; `text` is its answer. */
export async function checkDeliverables(
  run: Run,
  text: string,
  runCommand: RunCommand,
): Promise<DeliverableVerdict[]> {
  const verdicts: DeliverableVerdict[] = [];
  for (const [index, deliverable] of run.deliverables.entries()) {
    if ("file" in deliverable) verdicts.push(await checkFile(run, deliverable));
    else if ("answer" in deliverable) verdicts.push(await checkAnswer(deliverable, text));
    else verdicts.push(await checkCommand(deliverable, index, runCommand));
  }
  return verdicts;
}

/** Why a tool may not run yet: a file that must come before it is not there or not valid. */
export async function missingBefore(run: Run, tool: string): Promise<string | null> {
  for (const deliverable of run.deliverables) {
    if (!("file" in deliverable) || !deliverable.before?.includes(tool)) continue;
    const verdict = await checkFile(run, deliverable);
    if (verdict.ok) continue;
    const maker = [...run.tools.values()].find(({ makes }) => makes === deliverable.file);
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
export async function isLeftSince(run: Run, moment: number, deliverable: FileDeliverable): Promise<boolean> {
  const { claims } = run.session;
  try {
    for (const path of await matching(run, deliverable)) {
      const claim = claims.get(path);
      if (!claim?.line.includes(run.runId) || claim.moment <= moment) continue;
      if ((await faultOf(path, deliverable)) === null) return true;
    }
    return false;
  } catch {
    return false;
  }
}

async function checkFile(run: Run, deliverable: FileDeliverable): Promise<DeliverableVerdict> {
  const verdict = (ok: boolean, reason: string, files: string[] = []): DeliverableVerdict => ({
    deliverable: nameDeliverable(deliverable),
    ok,
    reason,
    files,
  });
  try {
    const all = await matching(run, deliverable);
    if (all.length === 0) return verdict(false, "no such file");
    const { claims } = run.session;
    const own = all.filter((path) => claims.get(path)?.line.includes(run.runId) !== false);
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
async function matching(run: Run, deliverable: FileDeliverable): Promise<string[]> {
  const { root, pattern } = rootOf(run, deliverable);
  const lines = [...run.session.claims.values()]
    .map(({ line }) => line)
    .filter((line) => line.includes(run.runId));
  const runs = new Set([run.runId, ...lines.flat()]);
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
  return { root: inProject ? run.projectDir : run.workspaceDir, pattern };
}

async function stateOf(path: string): Promise<string> {
  const { size, mtimeMs, ctimeMs, ino } = await stat(path);
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** Every ending is compared with the contract, also that of a run that hung or was stopped by a limit. */
export async function withVerdicts(run: Run, ending: Ending): Promise<Ending> {
  if (run.deliverables.length === 0 || ending.status === "cancelled") return ending;
  if (run.interruption?.status === "failed") return ending;
  const verdicts = ending.verdicts ?? (await check(run, ending.text));
  if (verdicts.every((verdict) => verdict.ok)) return { ...ending, verdicts };
  const missed = verdicts.filter((verdict) => !verdict.ok);
  const message = complianceError(run.agent.name, missed);
  run.warnings.push(message);
  run.session.emit({
    type: "compliance.failed",
    runId: run.runId,
    agent: run.agent.name,
    message,
  });
  const error: RunError = ending.error ?? { type: "deliverable", message, recoverable: true };
  return { ...ending, verdicts, error, status: ending.status === "completed" ? "failed" : ending.status };
}

/** The host's check of what the run promised; `text` is the answer it would end with. */
export async function check(run: Run, text: string): Promise<DeliverableVerdict[]> {
  const verdicts = await run.host.guards.checkDeliverables(run, text, async (command, index) => {
    const call = {
      callId: `check_${run.turn}_${index}`,
      tool: "shell",
      input: JSON.stringify({ command }),
      byHost: true,
    };
    const result = await run.host.makeCall(run, call);
    return result.outcome === "ok" ? null : result.text;
  });
  return run.host.redactor.redactJson(verdicts);
}

/** What is missing, a line for each, as the model is told. */
export function missingList(verdicts: readonly DeliverableVerdict[]): string {
  return verdicts
    .filter((verdict) => !verdict.ok)
    .map((verdict) => `- \`${verdict.deliverable}\`: ${verdict.reason}`)
    .join("\n");
}
