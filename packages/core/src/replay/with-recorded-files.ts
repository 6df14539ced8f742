/** A file that a child's first message holds; inside, nothing can pass for the end of it. */
const FILE = /<file path="([^"\n]*)">\n([\s\S]*?)\n<\/file>/g;

/** What stands for a file that may not be handed over. */
const REFUSED =
  /^\[not readable: (?:neither you nor the sub-agent may read it|it is outside the project and the workspace)\]$/;

/** A child's present first message with the recorded content of its files, as far as they may still be handed over. */
export function withRecordedFiles(now: string, then: string): string {
  const recorded = new Map([...then.matchAll(FILE)].map(([block, path]) => [path, block]));
  return now.replaceAll(FILE, (block, path: string, content: string) =>
    REFUSED.test(content) ? block : (recorded.get(path) ?? block),
  );
}
