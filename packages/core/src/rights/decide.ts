import type { Access, Decision, Layer, Rule, Target, Verdict } from "../schema/rights.ts";
import { type Call, findCover, hits, isCommandNamed, isConsent, isUnreadable } from "./match.ts";
import { isToolName } from "./rule.ts";

const STRICTNESS: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** What one layer says, and the rule it says it by. */
export type Voice = { readonly verdict: Verdict; readonly rule?: Rule };

const LETS_PASS: Voice = { verdict: "allow" };
const SILENT: Voice = { verdict: "deny" };

/**
 * What the chain says to one call. Each layer speaks for itself and the strictest wins, so no layer can widen
 * what another refuses. An empty chain refuses everything.
 */
export function decide(chain: readonly Layer[], access: Access): Decision {
  if (!isToolName(access.tool)) return refusal("names", `${describeAccess(access)} does not name a tool.`);
  const call: Call = { access };
  let decisive: Voice | undefined;
  let layer = "";
  for (const candidate of chain) {
    const voice = voiceOf(candidate, call);
    if (decisive && !outranks(voice, decisive)) continue;
    decisive = voice;
    layer = candidate.name;
    if (voice.verdict === "deny") break;
  }
  if (!decisive)
    return refusal("nobody", `No layer of rights speaks for ${describeAccess(access)}, so it is denied.`);
  const isSaid = (says: typeof isConsent) =>
    decisive.verdict === "allow" && chain.some((each) => !each.byModel && says(call, each.allow ?? []));
  const decision: Decision = {
    verdict: decisive.verdict,
    layer,
    reason: explainVoice(layer, decisive, call),
    consented: isSaid(isConsent),
  };
  if (isSaid(isCommandNamed)) decision.namesCommand = true;
  if (decisive.rule) decision.rule = decisive.rule.text;
  return decision;
}

function voiceOf(layer: Layer, call: Call): Voice {
  for (const rule of layer.deny) if (hits(rule, call)) return { verdict: "deny", rule };
  const asking = layer.ask.find((rule) => hits(rule, call));
  if (layer.allow === undefined) return asking ? { verdict: "ask", rule: asking } : LETS_PASS;
  const cover = findCover(call, layer.allow, layer.ask);
  if (!cover) return SILENT;
  return asking ? { verdict: "ask", rule: asking } : { verdict: "allow", rule: cover };
}

/** The stricter speaks for the chain; among layers that allow, the first that names a rule. */
function outranks(voice: Voice, decisive: Voice): boolean {
  if (voice.verdict !== decisive.verdict) return STRICTNESS[voice.verdict] > STRICTNESS[decisive.verdict];
  return decisive.verdict === "allow" && !decisive.rule && voice.rule !== undefined;
}

function refusal(layer: string, reason: string): Decision {
  return { verdict: "deny", layer, reason, consented: false };
}

const SHOWN = 80;

/** A call in a few words: the tool and what it would touch. */
function describeAccess(access: Access): string {
  const [first, ...others] = access.targets;
  if (!first) return shorten(access.tool);
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `${shorten(access.tool)}(${shorten(targetName(first))}${more})`;
}

/** One sentence on what a layer said to a call and why. */
function explainVoice(layer: string, { verdict, rule }: Voice, call: Call): string {
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
