import type { Record } from "@retinue/core/record/record";
import { readJsonObject } from "@retinue/core/schema/json-object";
import type { MessageRow } from "@retinue/core/schema/record";
import { showDuration } from "@retinue/core/show/measures";
import { showStatus } from "@retinue/core/show/standing";
import { cutToLine } from "@retinue/core/text/plain-text";
import { makeSpan, type StyledSpan } from "./spans.ts";
import { drawMarkdown } from "./talk.ts";
import type { Tui } from "./tui.ts";
import type { OpenTranscript } from "./tui-state.ts";

/** Keeps an open transcript up to date. */
export type Transcripts = { open(runId: string): Promise<void>; stop(): void };

const REFRESH_MS = 300;
const MOST_ANSWER = 2_000;
const MOST_TEXT = 400_000;

/** Follows the run whose transcript is open, from the record. */
export function followTranscript(tui: Tui, record: () => Record): Transcripts {
  let timer: NodeJS.Timeout | undefined;
  let version = -1;
  async function show(runId: string): Promise<void> {
    const node = tui.tree.node(runId);
    const row = node?.messageId == null ? undefined : await record().readRow(node.messageId);
    if (!node || !row) return;
    version = tui.tree.version;
    const title = `${node.displayName || node.agent} · ${showStatus(row.status)} · ${runId}`;
    tui.dispatch({
      type: "transcript",
      transcript: { runId, title, text: await describeRun(row, record()) },
    });
  }
  function follow(): void {
    timer = setTimeout(() => {
      const { transcript } = tui.snapshot().state;
      if (!transcript) return;
      if (tui.tree.version !== version) show(transcript.runId).catch(() => {});
      follow();
    }, REFRESH_MS);
  }
  return {
    async open(runId) {
      clearTimeout(timer);
      await record().committed();
      await show(runId);
      follow();
    },
    stop: () => clearTimeout(timer),
  };
}

/** A run as Markdown: its task, then each turn with its calls and what came back. */
export async function describeRun(run: MessageRow, record: Pick<Record, "readRows">): Promise<string> {
  const parts = [`# Task\n${run.request_content ?? ""}`];
  for (const turn of await record.readRows({ parentId: run.id })) {
    if (turn.request_type !== "continuation") continue;
    if (turn.response_content) parts.push(turn.response_content);
    if (turn.error_message) parts.push(`**Model call failed:** ${turn.error_message}`);
    for (const call of await record.readRows({ parentId: turn.id })) parts.push(describeCall(call));
  }
  if (run.error_message) parts.push(`**Failed:** ${run.error_message}`);
  parts.push(
    run.completed_at === null
      ? "…"
      : `---\n${showStatus(run.status)} after ${showDuration(run.duration_ms ?? 0)}`,
  );
  const text = parts.join("\n\n");
  return text.length > MOST_TEXT ? `… (only the end is shown)\n\n${text.slice(-MOST_TEXT)}` : text;
}

function describeCall(call: MessageRow): string {
  const input = cutToLine(call.request_content ?? "", 300);
  if (call.request_type === "delegation")
    return `**→ ${call.agent_role ?? "?"}** ${input}\n${fenced(call.response_summary ?? call.status)}`;
  const answer = call.error_message ?? call.response_content ?? call.status;
  return `**${readJsonObject(call.metadata_json).tool ?? "?"}** ${input}\n${fenced(answer)}`;
}

function fenced(text: string): string {
  const cut =
    text.length > MOST_ANSWER ? `${text.slice(0, MOST_ANSWER)}\n… (${text.length} characters in all)` : text;
  const fence = "`".repeat(Math.max(3, ...[...cut.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return `${fence}\n${cut.trimEnd()}\n${fence}`;
}

let drawnTranscript: { text: string; width: number; lines: StyledSpan[][] } | undefined;

/** The transcript of one run: a title, and below it everything there is. */
export function drawTranscript(
  { title, text }: OpenTranscript,
  width: number,
): { head: StyledSpan[][]; body: StyledSpan[][] } {
  if (drawnTranscript?.text !== text || drawnTranscript.width !== width)
    drawnTranscript = { text, width, lines: drawMarkdown(text, width) };
  const head = [[makeSpan(cutToLine(title, 300), "bold")], [makeSpan("─".repeat(width), "dim")]];
  return { head, body: drawnTranscript.lines };
}
