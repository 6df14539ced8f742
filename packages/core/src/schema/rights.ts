/** The outcome of a permission check, from weakest to strictest. */
export type Verdict = "allow" | "ask" | "deny";

/** What a call can do. low: reads; medium: a contained change; high: external, bulk or irreversible. */
export type Risk = "low" | "medium" | "high";

/** One parsed rule: `tool` or `tool(pattern)`. The tool part is a name, a group, or a glob such as `mcp__srv__*`. */
export type Rule = {
  /** As written, for explanations. */
  readonly text: string;
  readonly tool: string;
  readonly pattern?: string;
  /** The rule then speaks only of path targets of this mode, whatever the tool. */
  readonly mode?: "read" | "write";
  /** Patterns of targets the rule leaves alone: with no `pattern`, it speaks of everything but these. */
  readonly except?: readonly string[];
};

/** One source of rights. In a layer deny beats ask beats allow, and what nothing matches is denied. */
export type Layer = {
  /** Who speaks, for explanations: "settings", "session", "grants of main", "tools of coder". */
  readonly name: string;
  /** Absent: this layer lets everything through that it neither asks about nor denies. */
  readonly allow?: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
  /** Its rules may come from a model, or from a project's files, so that they narrow but are nobody's consent. */
  readonly byModel?: boolean;
  /** Binds the run itself, not its children: what they receive is decided by its grants instead. */
  readonly own?: boolean;
};

/** What a call would touch. */
export type Target =
  | {
      kind: "path";
      /** Real, canonical and absolute. */
      path: string;
      root: "project" | "workspace" | "outside";
      /** Relative to its root with forward slashes; equal to `path` when outside. */
      relative: string;
      mode: "read" | "write";
    }
  | { kind: "command"; command: string }
  | { kind: "host"; host: string }
  | { kind: "recipient"; address: string }
  | { kind: "agent"; agent: string };

/** A tool call as the permission check sees it. */
export type Access = {
  readonly tool: string;
  /** The tool's packs, which rules may name: `filesystem`, `web`, `git`. */
  readonly groups: readonly string[];
  readonly targets: readonly Target[];
};

/** A verdict with the layer and rule that decided it. */
export type Decision = {
  verdict: Verdict;
  /** Name of the strictest layer, the first one if several agree. */
  layer: string;
  /** Text of the rule that decided; absent if nothing matched. */
  rule?: string;
  /** One sentence for a person or the model. */
  reason: string;
  /** True if an allow rule with a recipient or host pattern matched in some layer: a person's consent to outbound use. */
  consented: boolean;
  /** True if a person's rules name every command of the call: consent to what the command does here. */
  namesCommand?: boolean;
};

/** How asks are answered without a person, with the names Claude Code uses. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];
export const PERMISSION_MODES = ["default", "acceptEdits", "plan", "bypassPermissions"] as const;
