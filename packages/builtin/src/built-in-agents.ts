import { join } from "node:path";
import type { KnownTools } from "@retinue/core/agents/fields/tool-names";
import { loadAgents } from "@retinue/core/agents/load-agents";
import type { AgentRegistry } from "@retinue/core/agents/registry";
import { PACKAGE_ROOT } from "@retinue/core/files/package-root";
import type { ToolName } from "@retinue/core/rights/explain";

/** Where the built-in agents are, one Markdown file each. */
export const BUILTIN_DIR = join(PACKAGE_ROOT, "agents");

/** The agents that come with Retinue, without any of a project or of the user. */
export function builtInAgents(): Promise<AgentRegistry> {
  return loadAgents({ builtinDir: BUILTIN_DIR, known: knownNames([]) });
}

/**
 * Every tool that Retinue brings, by its groups: written down here so that reading agents loads no pack. A test
 * compares it with the tools themselves.
 */
const BY_GROUPS: readonly (readonly [groups: readonly string[], names: readonly string[]])[] = [
  [["filesystem"], ["read", "write", "edit", "ls", "glob", "grep"]],
  [["filesystem"], ["code_search", "overview", "docs_coverage", "plan_files"]],
  [["git"], ["git", "git_diff", "git_commit"]],
  [["test"], ["test"]],
  [["shell"], ["shell"]],
  [[], ["todo"]],
  [["web"], ["web_search", "web_fetch", "crawl_parallel"]],
  [["research"], ["save_corpus", "write_local_file"]],
  [["workbench"], ["workbench_upload", "workbench_download"]],
  [["email"], ["gmail_send_email", "gmail_search_messages", "gmail_get_message"]],
  [["email"], ["gmail_create_draft", "gmail_reply_to_message", "gmail_get_delivery_status"]],
  [["calendar"], ["calendar_create_event", "calendar_check_availability", "calendar_list_events"]],
  [["calendar"], ["calendar_update_event", "calendar_delete_event"]],
  [["contacts"], ["contacts_search", "contacts_get_by_id"]],
  [["contacts"], ["contacts_list_organizations", "contacts_validate_email"]],
  [["slack"], ["slack_get_channel_messages", "slack_search_messages", "slack_get_thread_replies"]],
  [["slack"], ["slack_analyze_conversation", "slack_get_user_info", "slack_post_message"]],
  [["delegation"], ["delegate", "delegate_many", "collect_results"]],
];

/** Every tool that a rule may name, with its groups. */
export const KNOWN_TOOLS: readonly ToolName[] = BY_GROUPS.flatMap(([groups, names]) =>
  names.map((name) => ({ name, groups })),
);

/** Every group that a rule may name. */
export const KNOWN_GROUPS: ReadonlySet<string> = new Set(KNOWN_TOOLS.flatMap(({ groups }) => groups));

/** The names that agents' rules may use: the tools and groups there are, and what the settings' own rules name. */
export function knownNames(namedInSettings: Iterable<string>): KnownTools {
  return {
    tools: new Set(KNOWN_TOOLS.map(({ name }) => name)),
    groups: new Set([...KNOWN_GROUPS, ...namedInSettings]),
  };
}
