import type { Runtime } from "../../runtime/runtime.ts";
import type { Approval } from "../../schema/record.ts";
import type { RunResult } from "../../schema/result.ts";
import { describeWaiting } from "../approve/describe-waiting.ts";
import { plainJson, plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { formatOf, type RunOptions } from "./run-options.ts";
import { createJsonStream } from "./stream-json.ts";
import { hasFittingAnswer, wantsForm } from "./stream-json-result.ts";

/** What a run came to: its results, and what it waits for if it was left for later. */
export type Outcome = { results: readonly RunResult[]; waiting: readonly Approval[] };

/** Shows the outcome in the format that was asked for; as a stream, also everything on the way to it. */
export function createResultView(
  runtime: Runtime,
  cwd: string,
  options: RunOptions,
  terminal: Terminal,
): (outcome: Outcome) => void {
  const format = formatOf(options);
  if (format === "text") return (outcome) => printText(outcome, terminal);
  const isStream = format === "stream-json";
  const about = { cwd, permissionMode: options.permissionMode ?? "default" };
  const write = (line: object) => terminal.print(plainJson(line));
  const stream = createJsonStream(runtime, about, isStream ? write : () => {});
  runtime.events(stream.take);
  return ({ results, waiting }) => {
    const lines = results.map((result) => stream.finish(result, waiting));
    if (isStream) for (const line of lines) write(line);
    else terminal.print(plainJson(lines.length === 1 ? lines[0] : lines, 2));
  };
}

function printText({ results, waiting }: Outcome, terminal: Terminal): void {
  if (waiting.length > 0) {
    for (const line of describeWaiting(waiting)) terminal.tell(line);
    return;
  }
  for (const [index, result] of results.entries()) {
    if (results.length > 1)
      terminal.print(`${index > 0 ? "\n" : ""}${index + 1}. ${plainText(result.agent)}: ${result.status}`);
    printResult(result, terminal);
  }
}

function printResult(result: RunResult, terminal: Terminal): void {
  if (hasFittingAnswer(result)) {
    terminal.print(plainJson(result.data, 2));
    return;
  }
  const text = plainText(result.details || result.summary).trimEnd();
  const error = result.success ? "" : plainText(result.error?.message ?? "").trimEnd();
  // Where JSON was asked for, nothing else may stand in its place.
  if (text && text !== error && !wantsForm(result)) terminal.print(text);
  if (error) terminal.tell(`error: ${error}`);
}
