import { describe, expect, test } from "vitest";
import type { Access, Layer, Target } from "../schema/rights.ts";
import { decide } from "./decide.ts";
import { visibleTools } from "./explain.ts";
import { parseRules } from "./rule.ts";

type Texts = { allow?: string[]; ask?: string[]; deny?: string[] };

function layer({ allow, ask = [], deny = [] }: Texts, name = "layer"): Layer {
  return {
    name,
    ...(allow && { allow: parseRules(allow, name, "/home/me") }),
    ask: parseRules(ask, name, "/home/me"),
    deny: parseRules(deny, name, "/home/me"),
  };
}

function access(tool: string, ...targets: Target[]): Access {
  return { tool, groups: tool === "read" || tool === "write" ? ["filesystem"] : [], targets };
}

function file(
  relative: string,
  mode: "read" | "write" = "read",
  root: "project" | "workspace" = "project",
): Target {
  return { kind: "path", path: `/${root}/${relative}`, root, relative, mode };
}

function outside(path: string): Target {
  return { kind: "path", path, root: "outside", relative: path, mode: "read" };
}

const shell = (command: string) => access("shell", { kind: "command", command });
const fetch = (...hosts: string[]) =>
  access("web_fetch", ...hosts.map((host) => ({ kind: "host" as const, host })));
const mail = (...to: string[]) =>
  access("send", ...to.map((address) => ({ kind: "recipient" as const, address })));
const verdict = (texts: Texts, call: Access) => decide([layer(texts)], call).verdict;

describe("a chain", () => {
  test("that is empty denies", () => {
    expect(decide([], access("read"))).toMatchObject({ verdict: "deny", consented: false });
  });

  test("gives the strictest verdict of its layers, in any order", () => {
    const layers = [layer({}, "a"), layer({ ask: ["read"] }, "b"), layer({ deny: ["read"] }, "c")];
    expect(decide(layers, access("read"))).toMatchObject({ verdict: "deny", layer: "c", rule: "read" });
    expect(decide(layers.toReversed(), access("read")).verdict).toBe("deny");
    expect(decide(layers.slice(0, 2), access("read"))).toMatchObject({ verdict: "ask", layer: "b" });
  });

  test("names the first of several layers that deny", () => {
    const decision = decide(
      [layer({}, "a"), layer({ allow: [] }, "b"), layer({ deny: ["*"] }, "c")],
      access("read"),
    );
    expect(decision).toMatchObject({ verdict: "deny", layer: "b", reason: "b: no rule allows read." });
    expect(decision.rule).toBeUndefined();
  });

  test("names the rule by which it allows", () => {
    expect(decide([layer({}, "a"), layer({ allow: ["filesystem"] }, "b")], access("read"))).toMatchObject({
      verdict: "allow",
      layer: "b",
      rule: "filesystem",
    });
  });

  test("says in one sentence what was denied and by what", () => {
    const decision = decide(
      [layer({ deny: ["shell(rm *)"] }, "settings")],
      shell("rm -rf x\u001b[31m\nmore"),
    );
    expect(decision.reason).toBe("settings: shell(rm *) denies shell(rm -rf x [31m more).");
  });
});

describe("in one layer", () => {
  test("deny beats ask beats allow, and what nothing matches is denied", () => {
    expect(verdict({ allow: ["read"], ask: ["read"], deny: ["read"] }, access("read"))).toBe("deny");
    expect(verdict({ allow: ["read"], ask: ["read"] }, access("read"))).toBe("ask");
    expect(verdict({ allow: ["read"] }, access("read"))).toBe("allow");
    expect(verdict({ allow: ["read"] }, access("write"))).toBe("deny");
    expect(verdict({ allow: ["read"], ask: ["write"] }, access("write"))).toBe("ask");
  });

  test("an absent allow list lets pass what is neither asked about nor denied", () => {
    expect(verdict({}, access("read"))).toBe("allow");
    expect(verdict({ allow: [] }, access("read"))).toBe("deny");
  });

  test("several allow rules together may cover a call with several targets", () => {
    const rules = { allow: ["write(src/**)", "write(test/**)"] };
    expect(verdict(rules, access("write", file("src/a"), file("test/b")))).toBe("allow");
    expect(verdict(rules, access("write", file("src/a"), file("doc/b")))).toBe("deny");
  });

  test("an ask on one target does not open the others", () => {
    const rules = { allow: ["read"], ask: ["write(src/**)"] };
    expect(verdict(rules, access("write", file("src/a")))).toBe("ask");
    expect(verdict(rules, access("write", file("src/a"), file("doc/b")))).toBe("deny");
  });

  test("a pattern never allows a call without targets", () => {
    expect(verdict({ allow: ["read(**)"] }, access("read"))).toBe("deny");
    expect(verdict({ allow: ["read"] }, access("read"))).toBe("allow");
    expect(verdict({ deny: ["read(**)"] }, access("read"))).toBe("allow");
  });

  test("a pattern is about what a call reaches for, not about a file name it happens to carry", () => {
    const upload = access("upload", { kind: "host", host: "evil.com" }, file("x.example.org"));
    expect(verdict({ allow: ["upload(*.example.org)"] }, upload)).toBe("deny");
    expect(verdict({ deny: ["upload(x.example.org)"] }, upload)).toBe("deny");
  });
});

describe("tool names", () => {
  test.each(["SHELL", "Shell", " shell", "shell ", "shеll", "sh\u200bell", "ｓhell", "shell\0", ""])(
    "%j is not shell",
    (tool) => {
      for (const rules of [{ allow: ["shell"] }, { allow: ["shell(*)"] }]) {
        expect(decide([layer(rules)], { tool, groups: [], targets: [] }).verdict).toBe("deny");
      }
    },
  );

  test.each([" shell", "shеll", "sh\u200bell", "a b", ""])(
    "%j passes no chain at all, not even an open one",
    (tool) => {
      expect(decide([layer({}), layer({ allow: ["*"] })], { tool, groups: [], targets: [] }).verdict).toBe(
        "deny",
      );
    },
  );

  test("are matched by glob and by group", () => {
    expect(verdict({ allow: ["mcp__srv__*"] }, access("mcp__srv__get"))).toBe("allow");
    expect(verdict({ allow: ["mcp__srv__*"] }, access("mcp__other__get"))).toBe("deny");
    expect(verdict({ deny: ["filesystem"] }, access("read"))).toBe("deny");
    expect(verdict({ deny: ["file*"] }, access("read"))).toBe("allow");
  });

  test("a rule on delegate holds for delegate_many", () => {
    const many = access("delegate_many", { kind: "agent", agent: "a" }, { kind: "agent", agent: "b" });
    expect(verdict({ deny: ["delegate"] }, many)).toBe("deny");
    expect(verdict({ deny: ["delegate(b)"] }, many)).toBe("deny");
    expect(verdict({ allow: ["delegate(a)"] }, many)).toBe("deny");
    expect(verdict({ allow: ["delegate(a)", "delegate(b*)"] }, many)).toBe("allow");
  });
});

describe("hosts", () => {
  const rules = { allow: ["web_fetch(*.example.org)"] };
  test.each(["a.example.org", "A.B.Example.ORG", "a.example.org."])("%s is below example.org", (host) => {
    expect(verdict(rules, fetch(host))).toBe("allow");
  });
  test.each([
    "example.org",
    "evilexample.org",
    "a.example.org.evil.com",
    "evil.com/.example.org",
    "evil\0.example.org",
    "x@.example.org",
    "1.2.3.4",
  ])("%j is not", (host) => {
    expect(verdict(rules, fetch(host))).toBe("deny");
  });
  test("all have to match to allow, one is enough to deny", () => {
    expect(verdict(rules, fetch("a.example.org", "evil.com"))).toBe("deny");
    expect(verdict({ deny: ["web_fetch(evil.com)"] }, fetch("a.example.org", "EVIL.com."))).toBe("deny");
  });
  test("are compared in punycode", () => {
    expect(verdict({ allow: ["web_fetch(*.bücher.de)"] }, fetch("a.xn--bcher-kva.de"))).toBe("allow");
    expect(verdict({ deny: ["web_fetch(xn--bcher-kva.de)"] }, fetch("BÜCHER.de"))).toBe("deny");
  });
  test("in numbers match only themselves or everything", () => {
    expect(verdict({ allow: ["web_fetch(10.*)"] }, fetch("10.0.0.1"))).toBe("deny");
    expect(verdict({ allow: ["web_fetch(10.0.0.1)"] }, fetch("10.0.0.1"))).toBe("allow");
    expect(verdict({ allow: ["web_fetch(*)"] }, fetch("::1"))).toBe("allow");
    expect(verdict({ deny: ["web_fetch(::1)"] }, fetch("[::1]"))).toBe("deny");
  });
});

describe("recipients", () => {
  const rules = { allow: ["send(*@acme.com)"] };
  test.each(["bob@acme.com", "Bob+x@ACME.com", "bob@acme.com."])("%s is at acme.com", (address) => {
    expect(verdict(rules, mail(address))).toBe("allow");
  });
  test.each([
    "bob@acme.com.evil.com",
    "bob@аcme.com",
    "bоb@acme.com",
    "evil@evil.com,bob@acme.com",
    "evil@evil.com bob@acme.com",
    '"a@evil.com"@acme.com',
    "<evil@evil.com>bob@acme.com",
    "evil%evil.com@acme.com",
    "evil.com!bob@acme.com",
    "a@b@acme.com",
    "bob@acme.com\n",
    "@\u200bacme.com",
  ])("%j is not safely at acme.com", (address) => {
    expect(verdict(rules, mail(address))).toBe("deny");
  });
  test("all have to match to allow, one is enough to deny", () => {
    expect(verdict(rules, mail("a@acme.com", "b@evil.com"))).toBe("deny");
    expect(verdict({ deny: ["send(*@evil.com)"] }, mail("a@acme.com", '"A" <b@EVIL.com>'))).toBe("deny");
    expect(verdict({ deny: ["send(b@evil.com)"] }, mail("a@acme.com,b@evil.com"))).toBe("deny");
  });
});

describe("consent", () => {
  const consent = (texts: Texts, call: Access) => decide([layer({}), layer(texts)], call).consented;
  test("is an allow rule that names every outbound target", () => {
    expect(consent({ allow: ["send(*@acme.com)"] }, mail("a@acme.com", "b@acme.com"))).toBe(true);
    expect(consent({ allow: ["send(*@acme.com)", "send"] }, mail("a@acme.com", "b@evil.com"))).toBe(false);
    expect(consent({ allow: ["web_fetch(*.example.org)"] }, fetch("a.example.org"))).toBe(true);
  });
  test("is not a bare name, a star, or a pattern on something else", () => {
    expect(consent({ allow: ["send"] }, mail("a@acme.com"))).toBe(false);
    expect(consent({ allow: ["send(*)"] }, mail("a@acme.com"))).toBe(false);
    expect(consent({ allow: ["send(*@*.*)"] }, mail("a@acme.com"))).toBe(false);
    expect(consent({ allow: ["read(src/**)"] }, access("read", file("src/a")))).toBe(false);
  });
  test("is void if the chain does not allow the call", () => {
    const layers = [layer({ ask: ["send"] }), layer({ allow: ["send(*@acme.com)"] })];
    expect(decide(layers, mail("a@acme.com"))).toMatchObject({ verdict: "ask", consented: false });
  });
});

test("a path given from outside the roots is named in full", () => {
  expect(decide([layer({ allow: [] })], access("read", outside("/etc/passwd"))).reason).toContain(
    "read(/etc/passwd)",
  );
});

test("a name that is a tool's and a group's gives the tool alone, and takes the whole group away", () => {
  const commit = { tool: "git_commit", groups: ["git"], targets: [] };
  const look = { tool: "git", groups: ["git"], targets: [] };
  const verdict = (rules: Parameters<typeof layer>[0], access: Access) =>
    decide([layer(rules)], access).verdict;
  expect([verdict({ allow: ["git"] }, look), verdict({ allow: ["git"] }, commit)]).toEqual(["allow", "deny"]);
  expect(verdict({ allow: ["*"], deny: ["git"] }, commit)).toBe("deny");
  expect(verdict({ allow: ["*"], ask: ["git"] }, commit)).toBe("ask");
  expect(visibleTools([layer({ allow: ["git"] })], [{ name: "git_commit", groups: ["git"] }])).toEqual([]);
});

test("a command is named by an allow rule that spells out all its parts, not by a bare name or a star", () => {
  const names = (allow: string[], command: string) =>
    decide([layer({}), layer({ allow })], shell(command)).namesCommand ?? false;
  expect(names(["shell(npm publish)"], "npm publish")).toBe(true);
  expect(names(["shell(npm *)", "shell"], "npm publish && git push")).toBe(false);
  expect(names(["shell"], "npm publish")).toBe(false);
  expect(names(["shell(*)"], "npm publish")).toBe(false);
  expect(
    decide([layer({ allow: ["read(src/**)"] })], access("read", file("src/a"))).namesCommand,
  ).toBeUndefined();
});

test("a reason shows only the beginning of what a model wrote, in one line", () => {
  const { reason } = decide([layer({ deny: ["shell"] })], shell(`echo ${"a\n".repeat(5_000)}`));
  expect(reason.length).toBeLessThan(200);
  expect(reason).not.toContain("\n");
  expect(reason).toContain("…");
});
