import { afterEach, beforeEach, expect, test } from "vitest";
import { handClock } from "../../../../test/attacks/clocks.ts";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { createRedactor } from "../redact/create-redactor.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../run/ports.ts";
import type { RetinueEvent } from "../schema/event.ts";
import { AnsweredElsewhere, type Approver, STOPPED } from "./approvals.ts";
import { EventBus } from "./event-bus.ts";
import { RecordedAsks } from "./recorded-asks.ts";

const SECRET = "hunter2-hunter2-hunter2";
const never = new AbortController().signal;

let record: Record;
let bus: EventBus;
let told: RetinueEvent[];
let clock: ReturnType<typeof handClock>;
let asks: RecordedAsks;
beforeEach(async () => {
  record = createSqliteRecord({ path: ":memory:" });
  await record.startSession({ sessionId: "ses_1", title: "t", project: "/project", workspace: "/w" });
  bus = new EventBus();
  told = [];
  bus.subscribe((event) => told.push(event));
  clock = handClock();
  asks = createAsks();
});
afterEach(() => record.close());

/** The questions of one process; several of them share a record. */
const createAsks = () =>
  new RecordedAsks({ record, clock, bus, redactor: createRedactor({ secrets: [SECRET] }) });

const question = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  approvalId: "apr_1",
  runId: "run_1",
  sessionId: "ses_1",
  callId: "call_1",
  tool: "send",
  groups: [],
  targets: [],
  input: {},
  inputHash: "h",
  risk: "high",
  reason: "it is sent out",
  chain: ["lead"],
  tainted: false,
  mustConfirm: true,
  ...more,
});

/** An approver that answers when it is told to, and knows why it was stopped. */
function createPerson() {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<ApprovalAnswer>();
  const person = { asked: asked.promise, answer: answer.resolve, stoppedBy: null as unknown };
  const approver: Approver = (_, signal) => {
    signal.addEventListener("abort", () => {
      person.stoppedBy = signal.reason;
    });
    asked.resolve();
    return answer.promise;
  };
  return { ...person, approver, whyStopped: () => person.stoppedBy };
}

test("a question is in the record while it waits, and its answer with who gave it when", async () => {
  const person = createPerson();
  const asking = asks.through(person.approver)(question(), never);
  await person.asked;
  expect(await record.listApprovals({ state: "waiting" })).toMatchObject([
    { approvalId: "apr_1", tool: "send" },
  ]);
  person.answer({ allowed: true, by: "a person", scope: "run" });
  expect(await asking).toMatchObject({ allowed: true, by: "a person" });
  expect((await record.findApproval("apr_1")).answer).toEqual({
    allowed: true,
    by: "a person",
    scope: "run",
    atMs: clock.wallMs(),
  });
});

test("an answer from another process is heard within a second, and the person here is no longer asked", async () => {
  const person = createPerson();
  const asking = asks.through(person.approver)(question(), never);
  await person.asked;
  await createAsks().answer("apr_1", { allowed: false, by: "somebody elsewhere" });
  clock.advance(1_000);
  expect(await asking).toMatchObject({ allowed: false, by: "somebody elsewhere" });
  expect(person.whyStopped()).toBeInstanceOf(AnsweredElsewhere);
});

test("of two answers the first counts, and who was late is told", async () => {
  const person = createPerson();
  const asking = asks.through(person.approver)(question(), never);
  await person.asked;
  await createAsks().answer("apr_1", { allowed: false, by: "somebody elsewhere" });
  person.answer({ allowed: true, by: "a person" });
  expect(await asking).toMatchObject({ allowed: false, by: "somebody elsewhere" });
  expect(told).toMatchObject([
    { type: "notice.raised", message: "an answer came too late: 'send' was denied by somebody elsewhere" },
  ]);
  expect(await asks.answer("apr_1", { allowed: true, by: "a third" })).toBe(false);
});

test("a call that was answered before is not asked about again", async () => {
  const approver: Approver = async () => ({ allowed: true, by: "a person" });
  await asks.through(approver)(question(), never);
  let times = 0;
  const again = createAsks().through(async () => {
    times++;
    return { allowed: false, by: "nobody" };
  });
  expect(await again(question({ approvalId: "apr_2" }), never)).toMatchObject({
    allowed: true,
    by: "a person",
  });
  expect(times).toBe(0);
});

test("no secret reaches the record, in a question or in the words of an answer", async () => {
  const approver: Approver = async () => ({ allowed: false, by: "a person", note: `not with ${SECRET}` });
  await asks.through(approver)(question({ input: { key: SECRET }, reason: `holds ${SECRET}` }), never);
  const kept = await record.findApproval("apr_1");
  expect(kept.answer?.note).toMatch(/^not with /);
  expect(JSON.stringify(kept)).not.toContain(SECRET);
});

test("an approver that fails is a no with its reason", async () => {
  const failing: Approver = () => Promise.reject(new Error("the terminal is gone"));
  expect(await asks.through(failing)(question(), never)).toMatchObject({
    allowed: false,
    by: "the approver",
    note: "the terminal is gone",
  });
});

test("a run that is stopped waits no longer; its question stays until the run has ended", async () => {
  const person = createPerson();
  const stopped = new AbortController();
  const asking = asks.through(person.approver)(question(), stopped.signal);
  await person.asked;
  stopped.abort();
  expect(await asking).toBe(STOPPED);
  expect(await record.listApprovals({ state: "waiting" })).toHaveLength(1);
  await asks.runEnded("run_other");
  expect(await record.listApprovals({ state: "waiting" })).toHaveLength(1);
  await asks.runEnded("run_1");
  expect((await record.findApproval("apr_1")).answer).toMatchObject({
    allowed: false,
    note: "its run has ended",
  });
});

test("nothing is looked for once nobody waits", async () => {
  await asks.through(async () => ({ allowed: true, by: "a person" }))(question(), never);
  const looks: string[] = [];
  const find = record.findApproval;
  record.findApproval = (id) => {
    looks.push(id);
    return find(id);
  };
  clock.advance(10_000);
  expect(looks).toEqual([]);
  expect(await asks.look()).toBe(false);
});

test("while one question waits, answers from elsewhere are heard, also after another has been answered", async () => {
  const [first, second] = [createPerson(), createPerson()];
  const other = { approvalId: "apr_2", callId: "call_2", inputHash: "other" };
  const asking = [
    asks.through(first.approver)(question(), never),
    asks.through(second.approver)(question(other), never),
  ];
  await Promise.all([first.asked, second.asked]);
  first.answer({ allowed: true, by: "a person" });
  await asking[0];
  await createAsks().answer("apr_2", { allowed: false, by: "somebody elsewhere" });
  const looks: string[] = [];
  const find = record.findApproval;
  record.findApproval = (id) => {
    looks.push(id);
    return find(id);
  };
  clock.advance(1_000);
  expect(looks).toEqual(["apr_2"]);
  expect(await asking[1]).toMatchObject({ allowed: false, by: "somebody elsewhere" });
});

test("a look says whether an answer was there", async () => {
  const person = createPerson();
  const asking = asks.through(person.approver)(question(), never);
  await person.asked;
  expect(await asks.look()).toBe(false);
  await createAsks().answer("apr_1", { allowed: false, by: "somebody elsewhere" });
  expect(await asks.look()).toBe(true);
  expect(await asking).toMatchObject({ by: "somebody elsewhere" });
});

test("where nobody answered in time, an answer from elsewhere counts and nobody is told of being late", async () => {
  const person = createPerson();
  const asking = asks.through(person.approver)(question(), never);
  await person.asked;
  await createAsks().answer("apr_1", { allowed: true, by: "somebody elsewhere" });
  person.answer({ allowed: false, by: "nobody" });
  expect(await asking).toMatchObject({ allowed: true, by: "somebody elsewhere" });
  expect(told).toEqual([]);
});
