/** A remedy as a person reads it: a command to copy, and words before and after it; or words alone. */
export type Remedy = { before: string; command: string | null; after: string };

const COMMAND =
  /^(?:[A-Z_]+=\S+ )?(?:retinue|export|sudo|npm|npx|nvm|chmod|chown|mv|cp|ls|df|cat|ollama|docker|git|brew|apt)\b/;

/** Finds the command in a remedy such as `check your network, or: retinue config get …`; a remark after `#` is words. */
export function splitRemedy(remedy: string): Remedy {
  const [said = "", after = ""] = remedy.split(/\s{2,}#\s*/, 2);
  if (COMMAND.test(said)) return { before: "", command: said, after };
  const [before = "", command] = said.split(/: (?=\S)/, 2);
  if (command !== undefined && COMMAND.test(command)) return { before, command, after };
  return { before: remedy, command: null, after: "" };
}
