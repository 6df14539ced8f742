import { userInfo } from "node:os";
import type { Record } from "@retinue/core/record/record";
import { SessionTaken } from "@retinue/core/record/record";
import { createRedactor } from "@retinue/core/redact/create-redactor";
import { secretsFromEnvironment } from "@retinue/core/redact/secrets-from-environment";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { Approval, SessionRow } from "@retinue/core/schema/record";
import { cutToLine, writeJson } from "@retinue/core/text/plain-text";
import { proposedDiff } from "@retinue/server/views/proposed-diff";
import { Option } from "commander";
import { askLine, isYes } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { requireRecord, withRecord } from "../open-record.ts";
import { OUTCOME, SHOWING } from "../options.ts";
import { type Cli, changeOptions, printResult } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";
import { chooseFormat, type RunOptions } from "../work/run-options.ts";
import {
  describeAsk,
  describeAskedCall,
  findWaiting,
  listAskers,
  readReason,
  sayRisk,
  showWaitingTime,
  toWaitingLine,
} from "../work/waiting.ts";
import { resumeTask } from "./resume.ts";

/** Declares `retinue approve`. */
export default function registerApprove(command: CliCommand): void {
  command
    .description("list the calls that wait for approval, or answer one and go on with its session")
    .argument("[id]", "an approval's id or a unique beginning of it; without it, all that wait are listed")
    .addOption(new Option("--yes", "allow it without being asked").conflicts("deny"))
    .option("--deny", "deny it; the agent goes on without")
    .option("--note <text>", "words for the agent that asked")
    .option("--later", "only record the answer; the session goes on with `retinue resume`")
    .shares(...SHOWING, ...OUTCOME)
    .examples(
      "retinue approve",
      "retinue approve apr_abc --yes",
      'retinue approve apr_abc --deny --note "not on a Friday"',
    )
    .performs((id: string | undefined, cli: Cli<ApproveOptions>) =>
      id === undefined ? listWaiting(cli) : approveCall(id, cli),
    );
}

type ApproveOptions = RunOptions & { yes?: boolean; deny?: boolean; note?: string; later?: boolean };

/** What a person decided. */
type Answer = { allowed: boolean; note?: string };

/** `retinue approve ID`: shows a call that waits, takes the answer, and continues its session. */
async function approveCall(id: string, cli: Cli<ApproveOptions>): Promise<number> {
  const unknown = new RetinueError("input", `no approval '${id}'; nothing was ever recorded`);
  const { approval, answer } = await requireRecord(cli, unknown, async (record) => {
    const approval = await record.findApproval(id);
    const session = await record.readSession(approval.sessionId);
    refuseSettled(approval, session);
    const diff = session ? await proposedDiff(record, approval, session) : null;
    for (const line of describeCall(approval, session, diff)) cli.tell(line);
    const answer = await takeAnswer(approval, cli);
    await recordAnswer(record, approval, answer);
    return { approval, answer };
  });
  cli.tell(`${answer.allowed ? "✅ allowed" : "🚫 denied"} ${approval.approvalId}`);
  const onlyRecorded = (how: string) => {
    if (chooseFormat(cli.options) !== "text") cli.print(writeJson({ ...toWaitingLine(approval), answer }, 2));
    cli.tell(how);
    return EXIT.ok;
  };
  if (cli.options.later)
    return onlyRecorded(`go on with it by: retinue resume ${approval.sessionId} --on-ask park`);
  const elsewhere = await withRecord(cli, (record) => goesOnElsewhere(record, approval.sessionId));
  if (elsewhere) return onlyRecorded(elsewhere);
  try {
    return await resumeTask(approval.sessionId, changeOptions(cli, { onAsk: cli.options.onAsk ?? "park" }));
  } catch (thrown) {
    if (thrown instanceof SessionTaken)
      return onlyRecorded(`${thrown.holder} took the session first, and goes on with the answer`);
    const session = await withRecord(cli, (record) => record.readSession(approval.sessionId));
    if (session?.status !== "completed") throw thrown;
    return onlyRecorded(wentOnElsewhere(approval.sessionId));
  }
}

const LOOKS = 20;
const LOOK_MS = 100;

/**
 * Says which process continues a session instead of this one. A process that is just parking it may have looked for
 * answers already, so that a moment passes before it counts.
 */
async function goesOnElsewhere(record: Record, sessionId: string): Promise<string | null> {
  for (let looks = 0; looks < LOOKS && (await record.findHolder(sessionId)); looks++)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  const holder = await record.findHolder(sessionId);
  if (holder) return `${holder} has the session ${sessionId}, and goes on with the answer`;
  if ((await record.findSession(sessionId)).status === "running") return null;
  return wentOnElsewhere(sessionId);
}

function wentOnElsewhere(sessionId: string): string {
  return `the session ${sessionId} went on in another process, and has ended`;
}

function refuseSettled({ approvalId, sessionId, answer }: Approval, session: SessionRow | undefined): void {
  const isOpen = session?.status === "running";
  if (answer) {
    const at = new Date(answer.atMs).toISOString();
    const what = `${approvalId} was ${answer.allowed ? "allowed" : "denied"} by ${answer.by} at ${at}`;
    throw new RetinueError("input", what, isOpen ? `go on with: retinue resume ${sessionId}` : undefined);
  }
  if (isOpen) return;
  throw new RetinueError(
    "input",
    `the session ${sessionId} of ${approvalId} has ended (${session?.status ?? "unknown"}); there is nothing left to approve`,
    "see what waits with: retinue approve",
  );
}

async function recordAnswer(record: Record, { approvalId }: Approval, answer: Answer): Promise<void> {
  if (await record.answerApproval(approvalId, { ...answer, by: personName(), atMs: Date.now() })) return;
  throw new RetinueError("input", `somebody else has just answered ${approvalId}`);
}

async function takeAnswer({ approvalId }: Approval, cli: Cli<ApproveOptions>): Promise<Answer> {
  const { yes, deny, note } = cli.options;
  // A note typed in a hurry may contain a key; the record keeps none.
  const hide = (text: string) => createRedactor({ secrets: secretsFromEnvironment(cli.env) }).redact(text);
  const words = note === undefined ? {} : { note: hide(note) };
  if (yes || deny) return { allowed: yes === true, ...words };
  if (!cli.interactive)
    throw new RetinueError(
      "usage",
      `nobody is at a terminal to answer ${approvalId}`,
      `add --yes or --deny: retinue approve ${approvalId} --yes`,
    );
  const said = await askLine("allow it? [y/n] ", cli);
  if (isYes(said)) return { allowed: true, ...words };
  if (/^no?$/i.test(said)) return { allowed: false, ...words };
  throw new RetinueError("denied", "there was no answer; it still waits");
}

/** Everything a person must see before the answer; the call itself is never cut. */
function describeCall(approval: Approval, session: SessionRow | undefined, diff: string | null): string[] {
  const { request, approvalId, sessionId } = approval;
  const task = session ? `: ${cutToLine(session.title, 120)}` : "";
  return [
    `⏸ ${describeAsk(approval)}`,
    `   ${approvalId}, asked ${showWaitingTime(approval, Date.now())} ago in ${sessionId}${task}`,
    `   ${sayRisk(String(request.risk ?? "unknown"), request.tainted === true)}`,
    ...describeAskedCall({ ...request, diff })
      .split("\n")
      .map((line) => `   ${line}`),
  ];
}

function personName(): string {
  try {
    return userInfo().username;
  } catch (thrown) {
    return `a person (${messageOf(thrown)})`;
  }
}

/** `retinue approve` without an id: what waits for a person, the oldest first. */
async function listWaiting(cli: Cli): Promise<void> {
  const waiting = (await withRecord(cli, findWaiting)) ?? [];
  const [first] = waiting;
  printResult(cli, {
    value: waiting.map(toWaitingLine),
    text: () => (first ? drawWaiting(waiting) : "nothing waits for approval"),
  });
  if (first && !cli.options.json)
    cli.tell(`see one whole and answer it with: retinue approve ${first.approvalId}`);
}

function drawWaiting(waiting: readonly Approval[]): string[] {
  const nowMs = Date.now();
  const rows = waiting.map((approval) => [
    approval.approvalId,
    showWaitingTime(approval, nowMs),
    approval.sessionId,
    cutToLine(listAskers(approval).join(" > "), 120),
    cutToLine(approval.tool, 60),
    cutToLine(readReason(approval), 120),
  ]);
  return drawTable([["APPROVAL", "AGE", "SESSION", "WHO ASKS", "TOOL", "WHY"], ...rows]);
}
