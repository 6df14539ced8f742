import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { BUILTIN_DIR } from "@retinue/builtin/built-in-agents";
import { createFindOwn } from "@retinue/code/sandbox/running-commands";
import { slugOf } from "@retinue/core/agents/fields/slug";
import { findAgentFiles } from "@retinue/core/agents/find-agent-files";
import { findPlaces, type Places } from "@retinue/core/settings/places";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Terminal } from "../terminal.ts";
import { NAME_KINDS, type NameKind } from "./command-table.ts";

/** A name that can be completed, and what it is. */
type Name = { name: string; about: string };

/** Shells expand what they get: only names without special characters are passed on. */
const HARMLESS = /^[\w][\w.@-]*$/;
const MOST = 50;
const HEAD_CHARS = 4_000;

/** `retinue __complete KIND WORDS…`: names for a shell, one a line, and nothing at all if something is wrong. */
export async function completeNames(
  [kind = "", ...words]: readonly string[],
  terminal: Terminal,
): Promise<void> {
  try {
    const known = NAME_KINDS.find((each) => each === kind);
    if (!known) return;
    for (const { name, about } of await listNames(known, words, terminal))
      if (HARMLESS.test(name)) terminal.print(`${name}\t${cutToLine(about, 60)}`);
  } catch {
    // A completing shell cannot show a message.
  }
}

async function listNames(kind: NameKind, words: readonly string[], terminal: Terminal): Promise<Name[]> {
  const places = findPlaces(terminal.env);
  if (kind === "agents") return agentNames(folderIn(words, terminal), places);
  if (kind === "accounts") return accountNames(places);
  return recordNames(kind, words.at(-1) ?? "", places);
}

/** The folder that `-C` names on the line that is being typed. */
function folderIn(words: readonly string[], { cwd }: Terminal): string {
  const at = words.findIndex((word) => word === "-C" || word === "--cwd");
  const joined = words.find((word) => word.startsWith("--cwd="))?.slice("--cwd=".length);
  return resolve(cwd, joined ?? (at >= 0 ? (words[at + 1] ?? ".") : "."));
}

/** Reads only the head of each file, which is much faster than checking it. */
async function agentNames(projectDir: string, { homeDir, configHome, dataDir }: Places): Promise<Name[]> {
  const builtinDir = BUILTIN_DIR;
  const { files } = await findAgentFiles({
    projectDir,
    homeDir,
    configHome,
    builtinDir,
    findOwn: createFindOwn(dataDir),
  });
  const names = new Map<string, string>();
  for (const { path } of files) {
    const head = readHead(path);
    const fallback = basename(path).replace(/(?:\.agent)?\.md$/i, "");
    const name = slugOf(fieldIn(head, "id") ?? fieldIn(head, "name") ?? fallback);
    if (name && !names.has(name)) names.set(name, fieldIn(head, "description") ?? "");
  }
  return [...names].map(([name, about]) => ({ name, about })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readHead(path: string): string {
  try {
    const text = readFileSync(path, "utf8").slice(0, HEAD_CHARS);
    return /^\uFEFF?\s*---\r?\n([\s\S]*?)(?:\r?\n---|$)/.exec(text)?.[1] ?? "";
  } catch {
    return "";
  }
}

function fieldIn(head: string, key: string): string | undefined {
  const value = new RegExp(`^${key}:[ \\t]*(.+)$`, "m").exec(head)?.[1]?.trim();
  return value?.replace(/^(["'])(.*)\1$/, "$2");
}

function accountNames({ configDir }: Places): Name[] {
  const value: unknown = JSON.parse(readFileSync(join(configDir, "accounts.json"), "utf8"));
  const accounts = typeof value === "object" && value && "accounts" in value ? value.accounts : [];
  return (Array.isArray(accounts) ? accounts : []).map(({ id, address }) => ({
    name: String(id),
    about: String(address),
  }));
}

const QUERIES: Readonly<Record<Exclude<NameKind, "agents" | "accounts">, string>> = {
  sessions: "SELECT session_id AS name, title AS about, -changed AS place FROM sessions",
  plans: "SELECT plan_id AS name, status AS about, -max(changed) AS place FROM plans GROUP BY plan_id",
  approvals:
    "SELECT approval_id AS name, tool AS about, position AS place FROM approvals WHERE answered_at IS NULL",
};

/** Names that begin with the last word come first, so that typing more finds older ones too. */
function recordNames(kind: keyof typeof QUERIES, typed: string, { dataDir }: Places): Name[] {
  using db = new DatabaseSync(join(dataDir, "retinue.db"), { readOnly: true, timeout: 200 });
  const list = db.prepare(
    `SELECT name, about FROM (${QUERIES[kind]}) ORDER BY substr(name, 1, length(?1)) = ?1 DESC, place LIMIT ?2`,
  );
  const rows = list.all(typed, MOST);
  const names = rows.map(({ name, about }) => ({ name: String(name), about: String(about) }));
  return kind === "approvals" ? names : [...names, { name: "last", about: "the newest" }];
}
