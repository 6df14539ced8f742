import type { OpenDelegation } from "../schema/delegation.ts";
import { readObject } from "../schema/json-object.ts";
import type { MessageNode, MessageRow } from "../schema/record.ts";
import type { ChangeKind, RunResult, SubtreeFigures } from "../schema/result.ts";
import { addUpSubtree } from "../schema/subtree.ts";
import { type Claim, claimFile } from "./claims.ts";
import type { Reply, ToolCall } from "./model/reply.ts";
import { parseReport } from "./parse-report.ts";

/** The JSON beside a row's columns. */
export function metadataOf(row: MessageRow): Readonly<Record<string, unknown>> {
  const value: unknown = row.metadata_json ? JSON.parse(row.metadata_json) : {};
  return readObject(value);
}

/** Whether a row's effect has ended, as far as the record knows. */
export function isClosed(row: MessageRow): boolean {
  return row.closed_seq !== null;
}

/** The result of a run as it was when its row closed. */
export function resultOfRow(row: MessageRow): RunResult {
  const details = row.response_content ?? "";
  const kept = metadataOf(row);
  const data = kept.data ?? parseReport(details).data;
  // Results of earlier versions do not say what they hold.
  const recorded = { private_data: true, ...(kept.result as Omit<RunResult, "private_data">) };
  const result: RunResult = { ...recorded, details, ...(data !== undefined && { data }) };
  if (!kept.result) return result;
  // Records of earlier versions know neither deleted files, suites nor figures of the subtree.
  const own = { ...result, ...fillFigures(result) };
  return { ...own, subtree: result.subtree ? fillFigures(result.subtree) : addUpOld(own) };
}

function addUpOld(own: RunResult): SubtreeFigures {
  const { tests_run, tests_passed } = own;
  return { ...addUpSubtree(own, []), tests_run, tests_passed };
}

/** Figures of any version: where no test was counted, earlier ones had zeros. */
function fillFigures<Figures extends RunResult | SubtreeFigures>(figures: Figures): Figures {
  const { files_deleted, tests, tests_run, tests_passed }: Partial<SubtreeFigures> = figures;
  return {
    ...figures,
    files_deleted: files_deleted ?? [],
    tests: tests ?? [],
    tests_run: tests_run || null,
    tests_passed: tests_run ? (tests_passed ?? 0) : null,
  };
}

/** The reply that a model call's row holds. */
export function replyOfRow(row: MessageRow): Reply {
  const { reasoning, finish, maxOutputTokens } = metadataOf(row);
  return {
    text: row.response_content ?? "",
    reasoning: (reasoning as Reply["reasoning"] | undefined) ?? [],
    calls: JSON.parse(row.tool_calls_json ?? "[]") as ToolCall[],
    finish: (finish as Reply["finish"] | undefined) ?? (row.tool_calls_json ? "tool-calls" : "stop"),
    ...(typeof maxOutputTokens === "number" && { maxOutputTokens }),
    usage: undefined,
    modelId: undefined,
  };
}

/** The model calls of a run that continued its conversation, in order. */
export function turnsOf(node: MessageNode): MessageNode[] {
  return node.children.filter(
    (row) => row.request_type === "continuation" && metadataOf(row).purpose !== "summary",
  );
}

/** Delegations whose results the run had not been given when a model call began. */
export function runningIn(turn: MessageRow): readonly OpenDelegation[] {
  return (metadataOf(turn).running as OpenDelegation[] | undefined) ?? [];
}

/** A row and everything below it, without recursion. */
export function* subtreeOf(node: MessageNode): Generator<MessageNode> {
  const left = [node];
  for (let at = left.pop(); at; at = left.pop()) {
    yield at;
    left.push(...at.children);
  }
}

/** Whether a row is that of a run: a task that was given up before, or refused because too many had run, has a row as well. */
function hasBegun(row: MessageRow): boolean {
  if (row.request_type !== "prompt" && row.request_type !== "delegation") return false;
  const { snapshot, result } = metadataOf(row);
  return snapshot !== undefined && (result as RunResult | undefined)?.error?.type !== "spawn_limit";
}

/**
 * Tokens and cost of all model calls in a subtree, and the runs that began; a call that never ended counts with what was
 * set aside for it.
 */
export function spentIn(node: MessageNode): {
  tokens: number;
  costUsd: number;
  priced: boolean;
  runs: number;
} {
  const spent = { tokens: 0, costUsd: 0, priced: true, runs: 0 };
  for (const row of subtreeOf(node)) {
    if (hasBegun(row)) spent.runs++;
    if (row.request_type !== "continuation") continue;
    const costUsd = costOfRow(row);
    spent.tokens += tokensOf(row);
    spent.costUsd += costUsd ?? 0;
    if (costUsd === null) spent.priced = false;
  }
  return spent;
}

/** Tokens of one model call. */
export function tokensOf(row: MessageRow): number {
  if (isClosed(row)) return row.total_tokens ?? 0;
  const { reserved } = metadataOf(row);
  return typeof reserved === "number" ? reserved : (row.context_token_count ?? 0);
}

/** Cost of one model call; of one that never ended, what was set aside for it. Null if its price is not known. */
export function costOfRow(row: MessageRow): number | null {
  if (isClosed(row)) return row.cost_usd;
  const { reservedUsd = 0 } = metadataOf(row);
  return typeof reservedUsd === "number" ? reservedUsd : null;
}

/** Whether untrusted text had entered a run or anything below it. */
export function wasTainted(node: MessageNode): boolean {
  return [...subtreeOf(node)].some((row) => {
    const { tainted, broughtUntrusted, result } = metadataOf(row);
    return (
      tainted === true || broughtUntrusted === true || (result as RunResult | undefined)?.tainted === true
    );
  });
}

/** Whether data that are not public had entered a run or anything below it; what a row does not say counts as such. */
export function heldPrivateData(node: MessageNode): boolean {
  return [...subtreeOf(node)].some((row) => {
    const { privateData, outcome, uncounted, public: isPublic } = metadataOf(row);
    if (privateData === true) return true;
    return row.request_type === "tool_call" && outcome !== "denied" && !uncounted && isPublic !== true;
  });
}

/** Milliseconds a run had worked when its latest model call began; time between processes does not count. */
export function elapsedMs(node: MessageNode): number {
  const turns = node.children.filter((row) => row.request_type === "continuation");
  return turns.reduce((latest, row) => Math.max(latest, Number(metadataOf(row).elapsedMs ?? 0)), 0);
}

/** The moment of a seq before a crash, in the order of all those seqs and before every moment of this process. */
export function recordedMoment(seq: number | null): number {
  return (seq ?? 0) - Number.MAX_SAFE_INTEGER;
}

/** Who made or changed each file last, as the rows of a session tell. */
export function claimsIn(roots: readonly MessageNode[]): Map<string, Claim> {
  const changes: { seq: number; path: string; kind: ChangeKind; line: readonly string[] }[] = [];
  const left = roots.map((node) => ({ node, line: [node.run_id] }));
  for (let at = left.pop(); at; at = left.pop()) {
    const { node, line } = at;
    const files = (metadataOf(node).files as [path: string, kind: ChangeKind][] | undefined) ?? [];
    for (const [path, kind] of files) changes.push({ seq: node.closed_seq ?? 0, path, kind, line });
    for (const child of node.children)
      left.push({ node: child, line: line.at(-1) === child.run_id ? line : [...line, child.run_id] });
  }
  changes.sort((one, other) => one.seq - other.seq);
  const claims = new Map<string, Claim>();
  for (const { path, kind, line, seq } of changes)
    claims.set(path, claimFile(claims.get(path), { line, kind, moment: recordedMoment(seq) }));
  return claims;
}
