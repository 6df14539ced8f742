import type { Access, Decision, Layer, Rule, Target, Verdict } from "../schema/rights.ts";
import { type Call, findCover, hits, isCommandNamed, isConsent, isUnreadable } from "./match.ts";
import { isToolName } from "./rule.ts";

/** What one layer says, and the rule it says it by. */
type Voice = { readonly verdict: Verdict; readonly rule?: Rule };

/** The same before any call is known; `depends`: it hangs on what a call touches. */
type AnyVoice = { readonly verdict: Verdict | "depends"; readonly rule?: Rule };

const STRICTNESS: Readonly<Record<AnyVoice["verdict"], number>> = { allow: 0, ask: 1, depends: 2, deny: 3 };

/** Who speaks for a chain: the strictest layer, and among layers that allow the first that names a rule. */
export function findStrictest<Said extends AnyVoice>(
  chain: readonly Layer[],
  ask: (layer: Layer) => Said,
): { said: Said; layer: string } | undefined {
  let found: { said: Said; layer: string } | undefined;
  for (const layer of chain) {
    const said = ask(layer);
    if (!found || outranks(said, found.said)) found = { said, layer: layer.name };
    if (said.verdict === "deny") break;
  }
  return found;
}

function outranks(said: AnyVoice, decisive: AnyVoice): boolean {
  if (said.verdict !== decisive.verdict) return STRICTNESS[said.verdict] > STRICTNESS[decisive.verdict];
  return decisive.verdict === "allow" && !decisive.rule && said.rule !== undefined;
}

const LETS_PASS: Voice = { verdict: "allow" };
const SILENT: Voice = { verdict: "deny" };

/**
 * What the chain says to one call. Each layer speaks for itself and the strictest wins, so no layer can widen
 * what another refuses. An empty chain refuses everything.
 */
export function decide(chain: readonly Layer[], access: Access): Decision {
  if (!isToolName(access.tool)) return refusal("names", `${describeAccess(access)} does not name a tool.`);
  const call: Call = { access };
  const strictest = findStrictest(chain, (layer) => voiceOf(layer, call));
  if (!strictest)
    return refusal("nobody", `No layer of rights speaks for ${describeAccess(access)}, so it is denied.`);
  const { said: decisive, layer } = strictest;
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
