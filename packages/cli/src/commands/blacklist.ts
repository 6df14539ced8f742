import { RetinueError } from "@retinue/core/schema/error";
import { findPlaces } from "@retinue/core/settings/places";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Blacklist, BlacklistEntry } from "@retinue/research/crawl/blacklist";
import { Argument } from "commander";
import type { CliCommand } from "../cli-command.ts";
import { type Cli, printResult } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";

/** Declares `retinue blacklist`. */
export default function registerBlacklist(command: CliCommand): void {
  command
    .description("show and edit the domains that crawls leave out, in every session")
    .addArgument(
      new Argument("[action]", "what to do").choices(["list", "add", "remove", "clear"]).default("list"),
    )
    .argument("[domains...]", "example.org or an address of it")
    .examples("retinue blacklist", "retinue blacklist add slow.example.org")
    .performs(editBlacklist);
}

async function editBlacklist(action: string, domains: readonly string[], cli: Cli): Promise<void> {
  checkDomains(action, domains);
  const { openBlacklist } = await import("@retinue/research/crawl/blacklist");
  const blacklist = openBlacklist(findPlaces(cli.env).dataDir);
  try {
    for (const notice of blacklist.notices) cli.tell(`warning: ${notice}`);
    const said = changeList(action, domains, blacklist);
    const entries = blacklist.list();
    printResult(cli, {
      value: entries,
      text: () => (action === "list" ? drawList(entries) : said),
    });
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

function changeList(action: string, domains: readonly string[], blacklist: Blacklist): string[] {
  if (action === "add") return domains.map((domain) => `added ${blacklist.add(domain).domain}`);
  if (action === "remove")
    return domains.map((domain) =>
      blacklist.remove(domain) ? `removed ${domain}` : `${domain} was not on the list`,
    );
  if (action === "clear") return [`removed all: ${blacklist.clear()}`];
  return [];
}

function drawList(entries: readonly BlacklistEntry[]): string[] {
  if (entries.length === 0) return ["no domain is blacklisted"];
  return drawTable(
    entries.map(({ domain, by, failures, since }) => [
      cutToLine(domain, 300),
      `since ${since.slice(0, 10)}`,
      by === "person" ? "by a person" : `${failures} pages were not there`,
    ]),
  );
}
