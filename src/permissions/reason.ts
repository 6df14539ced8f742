import type { Access, Target } from "../schema/rights.ts";
import type { Voice } from "./decide.ts";
import { type Call, isUnreadable } from "./match.ts";

const SHOWN = 80;

/** A call in a few words: the tool and what it would touch. */
export function describeAccess(access: Access): string {
  const [first, ...others] = access.targets;
  if (!first) return shorten(access.tool);
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `${shorten(access.tool)}(${shorten(targetName(first))}${more})`;
}

/** One sentence on what a layer said to a call and why. */
export function explainVoice(layer: string, { verdict, rule }: Voice, call: Call): string {
  const what = describeAccess(call.access);
  if (verdict === "allow")
    return rule ? `${layer}: ${rule.text} allows ${what}.` : `Nothing stands against ${what}.`;
  if (verdict === "ask") return `${layer}: ${rule?.text ?? "a rule"} wants a person asked before ${what}.`;
  if (rule) return `${layer}: ${rule.text} denies ${what}.`;
  if (isUnreadable(call)) {
    return `${layer}: patterns cannot allow ${what} because the command is not fully readable; write it without escapes, variables as programs or unclosed quotes.`;
  }
  return `${layer}: no rule allows ${what}.`;
}

/** What a call touches, as people name it: a path within its folder, a command, a host, an address or an agent. */
export function targetName(target: Target): string {
  switch (target.kind) {
    case "path":
      return target.root === "outside" ? target.path : target.relative;
    case "command":
      return target.command;
    case "host":
      return target.host;
    case "recipient":
      return target.address;
    case "agent":
      return target.agent;
  }
}

/** Text from a model, made fit to stand in one line of a sentence. */
function shorten(text: string): string {
  const line = text.slice(0, SHOWN + 1).replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
}
