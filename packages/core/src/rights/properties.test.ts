import fc from "fast-check";
import { expect, test } from "vitest";
import type { Access, Layer, Target, Verdict } from "../schema/rights.ts";
import { decide } from "./decide.ts";
import { visibleTools } from "./explain.ts";
import { readCommand } from "./patterns/split-command.ts";
import { parseRule, parseRules } from "./rule.ts";

/** The parts of a command as texts, and whether some of it could not be understood. */
function splitCommand(command: string): { parts: string[]; opaque: boolean } {
  const { parts, opaque } = readCommand(command);
  return { parts: parts.map(({ text }) => text), opaque };
}

const RANK: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 };

const tool = fc.constantFrom("read", "write", "shell", "web_fetch", "send", "delegate", "delegate_many");
const patterns = [
  "src/**",
  "*",
  ".env",
  "/etc",
  "npm test *",
  "rm:*",
  "*.example.org",
  "*@acme.com",
  "alpha",
  "{a,b}/*",
];
const rule = fc
  .tuple(fc.oneof(tool, fc.constantFrom("filesystem", "*", "web_*")), fc.option(fc.constantFrom(...patterns)))
  .map(([name, pattern]) => (pattern === null ? name : `${name}(${pattern})`));
const rules = (most: number) => fc.array(rule, { maxLength: most }).map((texts) => parseRules(texts, "test"));
const layer: fc.Arbitrary<Layer> = fc
  .record({ allow: fc.option(rules(5), { nil: undefined }), ask: rules(2), deny: rules(2) })
  .map(({ allow, ask, deny }) => ({ name: "layer", ...(allow && { allow }), ask, deny }));
const chain = fc.array(layer, { minLength: 1, maxLength: 5 });

const path = fc.constantFrom("src/a", "SRC/b", ".env", ".ENV.", "a/x", "doc/\u00e9").map(
  (relative): Target => ({
    kind: "path",
    path: `/p/${relative}`,
    root: "project",
    relative,
    mode: "write",
  }),
);
const command = fc
  .constantFrom("npm test", "npm test; rm x", "$X rm", "echo $(rm x)", "ls > out", "rm", "'")
  .map((text): Target => ({ kind: "command", command: text }));
const host = fc
  .constantFrom("a.example.org", "evil.com")
  .map((name): Target => ({ kind: "host", host: name }));
const recipient = fc
  .constantFrom("a@acme.com", "b@evil.com")
  .map((address): Target => ({ kind: "recipient", address }));
const agent = fc.constantFrom("alpha", "beta").map((name): Target => ({ kind: "agent", agent: name }));
const access: fc.Arbitrary<Access> = fc.record({
  tool,
  groups: fc.constantFrom([], ["filesystem"]),
  targets: fc.array(fc.oneof(path, command, host, recipient, agent), { maxLength: 3 }),
});

const verdictOf = (layers: readonly Layer[], call: Access) => decide(layers, call).verdict;

test("a further layer never weakens a verdict, wherever it stands", () => {
  fc.assert(
    fc.property(chain, layer, access, fc.nat(5), (layers, further, call, at) => {
      const longer = layers.toSpliced(at, 0, further);
      expect(RANK[verdictOf(longer, call)]).toBe(
        Math.max(RANK[verdictOf(layers, call)], RANK[verdictOf([further], call)]),
      );
    }),
  );
});

test("a further deny never weakens a verdict, and a further ask never makes it an allow", () => {
  fc.assert(
    fc.property(chain, rules(1), access, fc.nat(), (layers, more, call, at) => {
      const before = verdictOf(layers, call);
      const change = (key: "deny" | "ask") =>
        layers.map((each, index) =>
          index === at % layers.length ? { ...each, [key]: [...each[key], ...more] } : each,
        );
      expect(RANK[verdictOf(change("deny"), call)]).toBeGreaterThanOrEqual(RANK[before]);
      if (before !== "allow") expect(verdictOf(change("ask"), call)).not.toBe("allow");
    }),
  );
});

test("the order of layers changes no verdict", () => {
  fc.assert(
    fc.property(chain, access, (layers, call) => {
      expect(verdictOf(layers.toReversed(), call)).toBe(verdictOf(layers, call));
    }),
  );
});

test("a further target never weakens the verdict on paths", () => {
  fc.assert(
    fc.property(chain, fc.array(path, { minLength: 1, maxLength: 3 }), path, (layers, targets, further) => {
      const call = { tool: "write", groups: ["filesystem"], targets };
      const wider = { ...call, targets: [...targets, further] };
      expect(RANK[verdictOf(layers, wider)]).toBeGreaterThanOrEqual(RANK[verdictOf(layers, call)]);
    }),
  );
});

test("what is not visible is denied however it is called", () => {
  fc.assert(
    fc.property(chain, access, (layers, call) => {
      const visible = visibleTools(layers, [{ name: call.tool, groups: call.groups }]);
      if (visible.length === 0) expect(verdictOf(layers, call)).toBe("deny");
    }),
  );
});

test("consent is only ever given to an allowed call with an outbound target", () => {
  fc.assert(
    fc.property(chain, access, (layers, call) => {
      const decision = decide(layers, call);
      if (!decision.consented) return;
      expect(decision.verdict).toBe("allow");
      expect(call.targets.some(({ kind }) => kind === "host" || kind === "recipient")).toBe(true);
    }),
  );
});

test("any text is either refused as a rule or read back as written", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), rule), (text) => {
      const parsed = parseRule(text);
      if ("error" in parsed) expect(parsed.error).not.toBe("");
      else expect(parsed.text).toBe(text);
    }),
  );
});

test("any text can be split, and a command hidden behind any prefix of operators is found or the text is opaque", () => {
  const piece = fc.constantFrom(
    "a",
    " ",
    "'",
    '"',
    "\\",
    "$(",
    ")",
    "`",
    "(",
    "{",
    "}",
    ";",
    "&",
    "|",
    "\n",
    "#",
    "<<E",
    ">",
    "${",
    "x=1 ",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const { parts, opaque } = splitCommand(`${pieces.join("")}\nrm x\n`);
      const swallowed = /['"#<]|\\$/.test(pieces.join(""));
      expect(opaque || swallowed || parts.includes("rm x")).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("a quoted text is never split", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const quoted = `echo '${text.replaceAll("'", "").replaceAll("\0", "")}'`;
      expect(splitCommand(quoted)).toMatchObject({ opaque: false, parts: { length: 1 } });
    }),
  );
});
