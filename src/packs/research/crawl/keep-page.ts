import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { writeInside } from "../../../files/open-inside.ts";
import { messageOf } from "../../../schema/error.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import type { CrawlLog, LoggedPage } from "./crawl-log.ts";
import { type CrawledPage, duplicateOf } from "./crawl-pages.ts";
import { formatPage, pageFile } from "./page-file.ts";

/** Gives a page that was read a file of its own, unless the run has the same page already by address or by text. */
export async function keepPage(
  page: CrawledPage,
  log: CrawlLog,
  { workspaceDir, changed, takePath }: Pick<ToolContext, "workspaceDir" | "changed" | "takePath">,
): Promise<LoggedPage> {
  const { content = "", ...about } = page;
  const names = new Set([page.canonical, ...(page.also ?? [])]);
  const hash = createHash("sha256").update(content).digest("hex");
  const same = log.pages.find(
    (other) =>
      other.status === "success" &&
      (other.hash === hash || [other.canonical, ...(other.also ?? [])].some((name) => names.has(name))),
  );
  if (same) return duplicateOf(page.url, same.url);
  const usual = join(workspaceDir, pageFile(page.canonical, page.title));
  const path = takePath?.(usual) ?? usual;
  const file = relative(workspaceDir, path);
  try {
    changed(path, await writeInside(workspaceDir, path, formatPage({ ...about, content })));
    return { ...about, hash, file };
  } catch (thrown) {
    const { url, canonical, title } = page;
    return { url, canonical, title, status: "failed", reason: `it could not be saved: ${messageOf(thrown)}` };
  }
}
