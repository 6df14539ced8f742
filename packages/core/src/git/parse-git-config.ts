/** One setting: `section.subsection.name`, with the case in which it was written. */
export type GitSetting = { readonly key: string; readonly value: string };

const SECTION = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const NAME = /^\s*([A-Za-z][\w-]*)[ \t]*(=?)/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Reads the settings in a file of git's, as git does; what it would refuse is left out. */
export function parseGitConfig(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let rest = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  let section = "";
  while (rest !== "") {
    const head = SECTION.exec(rest);
    if (head) {
      section = head[2] === undefined ? (head[1] ?? "") : `${head[1]}.${head[2].replace(/\\(.)/gs, "$1")}`;
      rest = rest.slice(head[0].length);
      continue;
    }
    const name = NAME.exec(rest);
    if (!name) {
      // A comment, an empty line, or something that is no setting.
      const end = rest.search(/\S/) === -1 ? -1 : rest.indexOf("\n", rest.search(/\S/));
      rest = end === -1 ? "" : rest.slice(end + 1);
      continue;
    }
    const { value, length } = readValue(rest.slice(name[0].length));
    settings.push({ key: `${section}.${name[1]}`, value: name[2] === "" ? "true" : value });
    rest = rest.slice(name[0].length + length);
  }
  return settings;
}

/** A value up to the end of its line: quotes, escapes, comments, and lines that go on in the next one. */
function readValue(text: string): { value: string; length: number } {
  let value = "";
  let blanks = "";
  let isQuoted = false;
  let at = 0;
  for (; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "\n") break;
    if (!isQuoted && (character === "#" || character === ";")) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end;
      break;
    }
    if (!isQuoted && /\s/.test(character)) {
      blanks += value === "" ? "" : character;
      continue;
    }
    if (character === '"') {
      isQuoted = !isQuoted;
      continue;
    }
    value += blanks;
    blanks = "";
    if (character !== "\\") value += character;
    else {
      at++;
      const escaped = text[at] ?? "";
      if (escaped !== "\n") value += ESCAPES[escaped] ?? escaped;
    }
  }
  return { value, length: at };
}
