import { type Blacklist, type BlacklistEntry, openBlacklist } from "../../packs/research/crawl/blacklist.ts";
import { findPlaces } from "../../runtime/project/places.ts";
import { RetinueError } from "../../schema/error.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";

/** `retinue blacklist`: shows or edits the domains that crawls leave out. */
export function editBlacklist(
  action: string,
  domains: readonly string[],
  options: CommonOptions,
  terminal: Terminal,
): void {
  checkDomains(action, domains);
  const blacklist = openBlacklist(findPlaces(terminal.env).dataDir);
  try {
    for (const notice of blacklist.notices) terminal.tell(`warning: ${notice}`);
    const said = edit(action, domains, blacklist);
    const entries = blacklist.list();
    if (options.json) terminal.print(JSON.stringify(entries, null, 2));
    else terminal.print(action === "list" ? draw(entries) : said.join("\n"));
  } finally {
    blacklist.close();
  }
}

function checkDomains(action: string, domains: readonly string[]): void {
  const needed = action === "add" || action === "remove";
  if (needed && domains.length === 0)
    throw new RetinueError(
      "usage",
      `'blacklist ${action}' needs a domain`,
      `Write: retinue blacklist ${action} example.org`,
    );
  if (!needed && domains.length > 0)
    throw new RetinueError(
      "usage",
      `'blacklist ${action}' takes no domain, but '${domains.join(" ")}' was given`,
    );
}

function edit(action: string, domains: readonly string[], blacklist: Blacklist): string[] {
  if (action === "add") return domains.map((domain) => `added ${blacklist.add(domain).domain}`);
  if (action === "remove")
    return domains.map((domain) =>
      blacklist.remove(domain) ? `removed ${domain}` : `${domain} was not on the list`,
    );
  if (action === "clear") return [`removed all: ${blacklist.clear()}`];
  return [];
}

function draw(entries: readonly BlacklistEntry[]): string {
  if (entries.length === 0) return "no domain is blacklisted";
  const width = Math.max(...entries.map(({ domain }) => domain.length));
  return entries
    .map(({ domain, by, failures, since }) => {
      const why = by === "person" ? "by a person" : `${failures} pages were not there`;
      return `${plainLine(domain, 300).padEnd(width)}  since ${since.slice(0, 10)}  ${why}`;
    })
    .join("\n");
}
