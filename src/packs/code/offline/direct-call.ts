import type { OfflineCall } from "../../../models/offline/procedure.ts";

/** A path as people write it: with a slash or an ending, quoted or not. */
const PATH = "[`\"'“]?((?:[\\w.@-]+\\/)*[\\w@-]*\\.[\\w-]+|(?:[\\w.@-]+\\/)+[\\w.@-]*)[`\"'”]?";
const FOLDER = "[`\"'“]?((?:[\\w.@-]+\\/)*[\\w.@-]*[\\w@-]\\/?|\\.)[`\"'”]?";
const QUOTED = '[`"“]([^`"”]+)[`"”]';
const LEAD = "^(?:please\\s+)?(?:can you\\s+|could you\\s+)?";
const END = "\\s*[.?!]*$";

type Rule = { tool: string; pattern: RegExp; input: (groups: readonly string[]) => OfflineCall["input"] };

const rule = (tool: string, pattern: string, input: Rule["input"]): Rule => ({
  tool,
  pattern: new RegExp(LEAD + pattern + END, "i"),
  input,
});

const SHOWN = "(?:read|show(?: me)?|cat|print|open|display|output)";
const FILES =
  "(?:the\\s+|all\\s+|all the\\s+)?(?:files|folders|directories|contents)(?:\\s+and\\s+(?:files|folders|directories))?";
const IN = "(?:in|of|inside|under|below|within)\\s+(?:the\\s+)?(?:folder\\s+|directory\\s+)?";
const HERE =
  "(?:\\s+(?:here|there are|(?:in|of)\\s+(?:the|this)\\s+(?:project|repository|repo|folder|directory|root)))?";

/** Requests that one call of a tool answers, as they stand. */
const RULES: readonly Rule[] = [
  rule(
    "glob",
    `(?:find|list|show)(?: me)?\\s+(?:the\\s+|all\\s+|all the\\s+)?[\`"']?(\\*\\*?[\\w./*{},-]+)[\`"']?(?:\\s+files)?`,
    ([pattern = ""]) => ({ pattern }),
  ),
  rule(
    "glob",
    `(?:find|list|show)(?: me)?\\s+(?:the\\s+|all\\s+|all the\\s+)?files\\s+(?:named|called|matching|like)\\s+[\`"']?([\\w./*{},@-]+)[\`"']?`,
    ([pattern = ""]) => ({ pattern }),
  ),
  rule(
    "ls",
    `(?:list|show(?: me)?|ls|print|display)\\s+${FILES}\\s+${IN}${FOLDER}(?:\\s+(?:folder|directory))?`,
    ([path = "."]) => ({ path }),
  ),
  rule("ls", `(?:what|which)\\s+files\\s+are\\s+(?:there\\s+)?${IN}${FOLDER}`, ([path = "."]) => ({ path })),
  rule("ls", `(?:list|show(?: me)?|print|display)\\s+${FILES}${HERE}`, () => ({})),
  rule("ls", `(?:what|which)\\s+files\\s+are(?:\\s+there)?${HERE}`, () => ({})),
  rule("ls", `ls(?:\\s+${FOLDER})?`, ([path]) => (path ? { path } : {})),
  rule(
    "read",
    `${SHOWN}\\s+(?:the\\s+)?(?:file\\s+|contents? of\\s+|file contents? of\\s+)?${PATH}(?:\\s+file)?`,
    ([path = ""]) => ({ path }),
  ),
  rule(
    "grep",
    `(?:grep|search)\\s+(?:for\\s+)?${QUOTED}(?:\\s+in\\s+${FOLDER})?`,
    ([pattern = "", path]) => ({ pattern, fixed: true, ...(path && { path }) }),
  ),
  rule("grep", `grep\\s+(?:for\\s+)?(\\S+)(?:\\s+(?:in\\s+)?${FOLDER})?`, ([pattern = "", path]) => ({
    pattern,
    fixed: true,
    ...(path && { path }),
  })),
  rule(
    "write",
    `(?:write|save|put)\\s+(?:the text\\s+)?${QUOTED}\\s+(?:to|into|in)\\s+(?:the\\s+|a\\s+)?(?:new\\s+)?(?:file\\s+)?(?:named\\s+|called\\s+)?${PATH}`,
    ([content = "", path = ""]) => ({ path, content: `${content}\n` }),
  ),
];

/** The one call that answers a part, if there is such a call and the tool for it is offered. */
export function directCall(part: string, tools: readonly string[]): OfflineCall | undefined {
  for (const { tool, pattern, input } of RULES) {
    const match = tools.includes(tool) ? pattern.exec(part.trim()) : null;
    if (match) return { tool, input: input(match.slice(1).map((group) => group ?? "")) };
  }
  return undefined;
}
