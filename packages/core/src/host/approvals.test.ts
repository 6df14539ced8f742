import { expect, test } from "vitest";
import type { ApprovalRequest } from "../run/ports.ts";
import { createApprovals } from "./approvals.ts";

const request = (more: Partial<ApprovalRequest>): ApprovalRequest => ({
  approvalId: "apr_1",
  runId: "run_1",
  sessionId: "ses_1",
  callId: "call_1",
  tool: "gmail_send_email",
  groups: ["email"],
  targets: [],
  input: {},
  inputHash: "h",
  risk: "high",
  reason: "somebody outside",
  chain: ["email"],
  tainted: false,
  mustConfirm: true,
  ...more,
});
const to = (address: string) => ({ targets: [{ kind: "recipient" as const, address }] });
const ask = (more: Partial<ApprovalRequest>, allowedTools: string[] = []) =>
  createApprovals({ mode: "default", allowedTools })(request(more), AbortSignal.timeout(10_000));

test("the hint names the rule that would really be enough", async () => {
  const { note } = await ask(to("jo@company.com"));
  expect(note).toContain("--allowed-tools 'gmail_send_email(jo@company.com)'");
  expect(await ask(to("jo@company.com"), ["gmail_send_email(jo@company.com)"])).toMatchObject({
    allowed: true,
  });
});

test("a call that reaches nobody by name gets no hint at a rule that would not be enough", async () => {
  expect((await ask({}, ["gmail_send_email"])).note).toBe("only a person can allow it, at a terminal");
});

test.each(["a'|sh|'@evil.example", "*@evil.example", "x'`reboot`'@evil.example"])(
  "the hint holds nothing that a shell or a rule would read otherwise: %s",
  async (address) => {
    expect((await ask(to(address))).note).toBe("only a person can allow it, at a terminal");
  },
);

test.each([
  ["cd src && rm -rf x", ": --allowed-tools 'shell(cd *)' --allowed-tools 'shell(rm *)'"],
  ["rm a; rm b", ": --allowed-tools 'shell(rm *)'"],
  ["FOO=1 git clean -fdx", ""],
  ['"a b" x', ""],
])("for %s the hint names every program, or none", async (command, rules) => {
  const call: Partial<ApprovalRequest> = {
    tool: "shell",
    groups: ["shell"],
    targets: [{ kind: "command", command }],
  };
  const { note } = await ask(call);
  const named = [...rules.matchAll(/'(.*?)'/g)].map(([, rule = ""]) => rule);
  expect((await ask(call, named)).allowed).toBe(named.length > 0);
  expect(note).toBe(`allow it at a terminal, or with rules that name each of its commands${rules}`);
});

test("where untrusted text may have a say, neither a mode nor a tool's bare name is enough, and a named recipient is", async () => {
  const tainted = { ...to("jo@company.com"), tainted: true, mustConfirm: false };
  const answer = (allowedTools: string[], mode: "bypassPermissions" | "acceptEdits" = "bypassPermissions") =>
    createApprovals({ mode, allowedTools })(request(tainted), AbortSignal.timeout(10_000));
  expect((await answer([])).allowed).toBe(false);
  expect((await answer(["gmail_send_email", "gmail_*"])).allowed).toBe(false);
  expect((await answer(["gmail_send_email(*@other.com)"])).allowed).toBe(false);
  expect((await answer(["gmail_send_email(jo@company.com)"])).allowed).toBe(true);
  expect((await ask({ ...tainted, tainted: false }, ["gmail_send_email"])).allowed).toBe(true);
});

test("an approver that fails is a no, and one that never answers ends with its run", async () => {
  const failing = createApprovals({
    mode: "default",
    allowedTools: [],
    approver: () => Promise.reject(new Error("the terminal is gone")),
  });
  expect(await failing(request({}), AbortSignal.timeout(10_000))).toEqual({
    allowed: false,
    by: "the approver",
    note: "the terminal is gone",
  });
  const silent = createApprovals({
    mode: "default",
    allowedTools: [],
    approver: () => new Promise(() => {}),
  });
  const stopped = new AbortController();
  const asking = silent(request({}), stopped.signal);
  stopped.abort();
  expect(await asking).toMatchObject({ allowed: false, by: "the stop of the run" });
});

test("a rule for a group of tools that names whom a call reaches is enough, one that names somebody else is not", async () => {
  expect(await ask(to("jo@company.com"), ["email(jo@company.com)"])).toMatchObject({ allowed: true });
  expect(await ask(to("jo@company.com"), ["email(al@company.com)"])).toMatchObject({ allowed: false });
});

test("the hint names up to five recipients, and of more only that they need a rule", async () => {
  const note = async (count: number) => {
    const targets = Array.from({ length: count }, (_, at) => to(`p${at}@company.com`).targets).flat();
    return (await ask({ targets })).note;
  };
  expect((await note(5))?.match(/--allowed-tools/g)).toHaveLength(5);
  expect(await note(6)).toBe("a rule on the recipients of 'gmail_send_email' would allow it");
});
