import type { Access, Target } from "../../schema/rights.ts";
import { compileWildcard, matchesWildcard, type Wildcard } from "../../text/wildcard.ts";
import {
  allowsHost,
  allowsRecipient,
  compileHostPattern,
  compileRecipientPattern,
  type HostPattern,
  normaliseHost,
  type RecipientPattern,
  touchesHost,
  touchesRecipient,
} from "./address-pattern.ts";
import type { CommandPart } from "./command-part.ts";
import { allowsPart, type CommandPattern, compileCommandPattern, touchesCommand } from "./command-pattern.ts";
import {
  allowsPath,
  compilePathPattern,
  type PathPattern,
  type PathSubject,
  touchesPath,
} from "./path-pattern.ts";
import { type CommandReading, readCommand } from "./split-command.ts";

/** A pattern, compiled for each kind of target when it first meets one. */
export type Pattern = {
  readonly text: string;
  path?: PathPattern;
  command?: CommandPattern;
  host?: HostPattern;
  recipient?: RecipientPattern;
  agent?: Wildcard;
};

/** A target in the form in which patterns compare it; a command is read at most once. */
export type Subject =
  | PathSubject
  | { readonly kind: "command"; readonly command: string; reading?: CommandReading }
  /** One part of a command; absent if the command as a whole cannot be told. */
  | { readonly kind: "part"; readonly part: CommandPart | undefined }
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "recipient"; readonly address: string }
  | { readonly kind: "agent"; readonly agent: string };

/**
 * What an allow pattern is about when a call has targets of several kinds: the first of these that it has. The tool
 * fixes the kinds, so a model cannot slip a host past a host pattern by choosing a file name that matches it.
 */
const LEADING_KINDS = ["command", "agent", "recipient", "host", "path"] as const satisfies Target["kind"][];

/** The subjects an allow rule has to cover, every part of a command counted singly. */
export function leadingSubjects(access: Access, subjects: readonly Subject[]): readonly Subject[] {
  if (access.targets.length === 0) return subjects;
  const kind = LEADING_KINDS.find((each) => access.targets.some((target) => target.kind === each));
  const leading = subjects.filter((subject) => subject.kind === kind);
  return kind === "command" ? leading.flatMap(partsOf) : leading;
}

/** The form of a target that patterns compare. */
export function toSubject(target: Target): Subject {
  switch (target.kind) {
    case "path":
      return { kind: "path", target };
    case "command":
      return { kind: "command", command: target.command };
    case "host":
      return { kind: "host", host: normaliseHost(target.host) };
    case "recipient":
      return { kind: "recipient", address: target.address };
    case "agent":
      return { kind: "agent", agent: target.agent };
  }
}

function partsOf(subject: Subject): Subject[] {
  if (subject.kind !== "command") return [];
  subject.reading ??= readCommand(subject.command);
  const { parts, opaque } = subject.reading;
  if (opaque || parts.length === 0) return [{ kind: "part", part: undefined }];
  return parts.map((part) => ({ kind: "part", part }));
}

/** The strict reading, for rules that allow: what is not surely meant is not covered. */
export function allows(pattern: Pattern, subject: Subject): boolean {
  switch (subject.kind) {
    case "path":
      pattern.path ??= compilePathPattern(pattern.text);
      return allowsPath(pattern.path, subject);
    case "part":
      pattern.command ??= compileCommandPattern(pattern.text);
      return subject.part !== undefined && allowsPart(pattern.command, subject.part);
    case "command":
      return partsOf(subject).every((part) => allows(pattern, part));
    case "host":
      pattern.host ??= compileHostPattern(pattern.text);
      return allowsHost(pattern.host, subject.host);
    case "recipient":
      pattern.recipient ??= compileRecipientPattern(pattern.text);
      return allowsRecipient(pattern.recipient, subject.address);
    case "agent":
      pattern.agent ??= compileWildcard(pattern.text);
      return matchesWildcard(pattern.agent, subject.agent);
  }
}

/** The loose reading, for rules that ask or deny: what may be meant is touched. */
export function touches(pattern: Pattern, subject: Subject): boolean {
  switch (subject.kind) {
    case "path":
      pattern.path ??= compilePathPattern(pattern.text);
      return touchesPath(pattern.path, subject);
    case "part":
      pattern.command ??= compileCommandPattern(pattern.text);
      return (
        subject.part !== undefined &&
        touchesCommand(pattern.command, { parts: [subject.part], opaque: false }, "")
      );
    case "command":
      pattern.command ??= compileCommandPattern(pattern.text);
      subject.reading ??= readCommand(subject.command);
      return touchesCommand(pattern.command, subject.reading, subject.command);
    case "host":
      pattern.host ??= compileHostPattern(pattern.text);
      return touchesHost(pattern.host, subject.host);
    case "recipient":
      pattern.recipient ??= compileRecipientPattern(pattern.text);
      return touchesRecipient(pattern.recipient, subject.address);
    case "agent":
      pattern.agent ??= compileWildcard(pattern.text);
      return matchesWildcard(pattern.agent, subject.agent);
  }
}
