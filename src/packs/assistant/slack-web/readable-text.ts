/** How ids in a text are named. */
export type Names = {
  person(id: string): string | undefined;
  channel(id: string): string | undefined;
};

/** Slack's markup as a person reads it: mentions by name, links with their real target, entities as characters. */
export function readableText(text: string, names: Names): string {
  return text
    .split(/(<[^<>]*>)/)
    .map((part, index) => plain(index % 2 === 1 ? readToken(part.slice(1, -1), names) : part))
    .join("");
}

/** Ids of the people whom texts mention. */
export function mentionedPeople(text: string): string[] {
  return [...text.matchAll(/<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>/g)].map(([, id = ""]) => id);
}

function readToken(token: string, names: Names): string {
  const bar = token.indexOf("|");
  const target = bar < 0 ? token : token.slice(0, bar);
  const label = bar < 0 ? "" : token.slice(bar + 1);
  const id = target.slice(1);
  if (target.startsWith("@")) return `@${names.person(id) ?? (label || id)}`;
  if (target.startsWith("#")) return `#${label || (names.channel(id) ?? id)}`;
  if (target.startsWith("!")) return readCommand(id, label);
  return readLink(target, label);
}

/** `!here` and its like, groups, and dates, whose label is what they fall back to. */
function readCommand(command: string, label: string): string {
  if (label) return label;
  const [name = "", detail] = command.split("^");
  return `@${name === "subteam" && detail ? detail : name}`;
}

/** A label never hides where its link leads. */
function readLink(target: string, label: string): string {
  const bare = target.replace(/^(mailto:|tel:|https?:\/\/)/, "").replace(/\/$/, "");
  if (label === "" || label === target) return target.replace(/^(mailto|tel):/, "");
  if (label.replace(/\/$/, "") === bare) return /^https?:/.test(target) ? target : label;
  return `${label} (${target})`;
}

/** Slack escapes these three and no others; the ampersand comes last, so that nothing is read twice. */
function plain(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
