/** One line of a robots.txt that concerns us; `pattern` is in the form of `matchForm`. */
export type RobotsRule = { allow: boolean; pattern: string };

/** More rules than this are not looked at, so that no site can keep us busy with them. */
const MAX_RULES = 5_000;

type Group = { agents: string[]; rules: RobotsRule[] };

/**
 * The rules of a robots.txt for one robot by RFC 9309: those of all groups that name it, else those for everybody.
 * `Crawl-delay` is no part of that standard and is ignored; a run asks for too few pages for it to matter.
 */
export function parseRobots(text: string, robot: string): RobotsRule[] {
  const groups = groupsOf(text);
  const named = groups.filter(({ agents }) => agents.includes(robot.toLowerCase()));
  const chosen = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes("*"));
  return chosen.flatMap(({ rules }) => rules).slice(0, MAX_RULES);
}

/** The rule that decides on an address: the longest that matches, and of two equally long the one that allows. */
export function decidingRule(rules: readonly RobotsRule[], url: URL): RobotsRule | undefined {
  const path = matchForm(url.pathname + url.search);
  let deciding: RobotsRule | undefined;
  for (const rule of rules) {
    const lead = rule.pattern.length - (deciding?.pattern.length ?? -1);
    if ((lead > 0 || (lead === 0 && rule.allow)) && matches(rule.pattern, path)) deciding = rule;
  }
  return deciding;
}

function groupsOf(text: string): Group[] {
  const groups: Group[] = [];
  let open = false;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    const [, key = "", value = ""] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
    const name = key.toLowerCase();
    if (name === "user-agent") {
      const group = open ? groups.at(-1) : undefined;
      const agent = agentName(value);
      if (group) group.agents.push(agent);
      else groups.push({ agents: [agent], rules: [] });
      open = true;
    } else if (name === "allow" || name === "disallow") {
      open = false;
      const pattern = value.trim();
      if (pattern) groups.at(-1)?.rules.push({ allow: name === "allow", pattern: matchForm(pattern) });
    }
  }
  return groups;
}

/** Only the product name counts: `Retinue/1.0` is `retinue`. */
function agentName(value: string): string {
  const text = value.trim().toLowerCase();
  return text.startsWith("*") ? "*" : (/^[a-z_-]+/.exec(text)?.[0] ?? "");
}

/** Paths and patterns are compared as octets: escapes of plain characters are undone, others written in one way. */
function matchForm(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return /[A-Za-z0-9._~-]/.test(character) ? character : octet.toUpperCase();
    });
}

/** `*` stands for anything and a final `$` for the end. Runs through the path once, so that no pattern is slow. */
function matches(pattern: string, path: string): boolean {
  const toEnd = pattern.endsWith("$");
  const [first = "", ...parts] = (toEnd ? pattern.slice(0, -1) : pattern).split("*");
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = toEnd ? parts.pop() : undefined;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  if (!toEnd) return true;
  if (last === undefined) return at === path.length;
  return path.endsWith(last) && path.length - last.length >= at;
}
