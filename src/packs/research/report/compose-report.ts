import type { ToolContext } from "../../../tools/tool.ts";
import { cutAt } from "../../../tools/truncate.ts";
import { loadCorpus } from "../saving/corpus-file.ts";
import { synthesise } from "../synthesis/synthesise.ts";
import { parseReport } from "./parse-report.ts";
import { renderHtml } from "./render-html.ts";
import { renderMarkdown } from "./render-markdown.ts";
import { countSources, type Report } from "./report.ts";
import type { GivenReport } from "./report-schema.ts";

const MAX_FINDING = 300;
const MAX_FINDINGS = 6;
const MAX_WARNINGS = 20;

/** What a report is made of: what a model wrote, or, without that, the corpus alone. */
export type ReportRequest = { report?: GivenReport; title?: string; request?: string };

/** A report as the text of a file, with what is worth telling of it; or why there is none, which may quote sources. */
export async function composeReport(
  input: ReportRequest,
  path: string,
  { workspaceDir, runId }: Pick<ToolContext, "workspaceDir" | "runId">,
): Promise<{ content: string; notes: string[] } | { refused: string; quotes?: true }> {
  const corpus = await loadCorpus(workspaceDir, runId);
  if (typeof corpus === "string") return { refused: corpus };
  if (corpus.articles.every(({ status }) => status !== "success"))
    return {
      refused:
        "no page of the corpus could be read, so there is nothing to report on; call save_corpus again with url, title and content of what you have, such as search results",
    };
  const { report: given, title = "Report", request } = input;
  const made = given
    ? parseReport(given, corpus)
    : { report: await synthesise(corpus, { title, ...(request && { request }) }), warnings: [] };
  if ("faults" in made)
    return {
      refused: `the report was not written:\n${listed(made.faults)}\nCorrect these places and write it again.`,
      quotes: true,
    };
  const report = { ...made.report, ...(request && { request }) };
  const content = /\.md$/i.test(path) ? renderMarkdown(report) : renderHtml(report);
  return { content, notes: given ? describeWarnings(made.warnings) : notesOn(report) };
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** For those who wrote a report with numbers that its sources do not have. */
function describeWarnings(warnings: readonly string[]): string[] {
  if (warnings.length === 0) return [];
  const more = warnings.length - MAX_WARNINGS;
  return [
    "Warning: these numbers were not found in the sources cited for them, and the report's notes say so:",
    listed(warnings.slice(0, MAX_WARNINGS)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

/** For those who asked for a report without reading the corpus themselves. */
function notesOn({ summary, sources, themes, figures, quotes, contradictions, unread }: Report): string[] {
  const findings = summary
    .slice(0, MAX_FINDINGS)
    .flat()
    .map(
      ({ text, cites }) => `- ${cutAt(text, MAX_FINDING)} ${cites.map((number) => `[${number}]`).join("")}`,
    );
  const cited = [
    ...new Set(summary.slice(0, MAX_FINDINGS).flatMap((point) => point.flatMap(({ cites }) => cites))),
  ].sort((a, b) => a - b);
  const { supplied } = countSources(sources);
  return [
    `Extractive report: ${counted(sources, "source")}${supplied && ` (${supplied} among them)`}, ${counted(themes, "theme")}, ${counted(figures, "key figure")}, ${counted(quotes, "quotation")}, ${counted(contradictions, "contradiction")}; ${counted(unread, "page")} could not be read.`,
    ...(findings.length > 0 ? ["Key findings:", ...findings] : []),
    ...cited.map((number) => `[${number}] ${sources[number - 1]?.title ?? ""}`),
    ...(unread.length > 0 ? ["Could not be read:"] : []),
    ...unread
      .slice(0, MAX_FINDINGS * 2)
      .map(({ url, reason }) => `- ${cutAt(url, 200)}: ${cutAt(reason, 200)}`),
  ];
}

function counted(list: readonly unknown[], name: string): string {
  return `${list.length} ${name}${list.length === 1 ? "" : "s"}`;
}
