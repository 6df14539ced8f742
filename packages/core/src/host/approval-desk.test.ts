import { expect, test } from "vitest";
import type { ApprovalRequest } from "../run/ports.ts";
import type { LeftForLater, Parked } from "../session/take-lease.ts";
import { ApprovalDesk } from "./approval-desk.ts";
import { EventBus } from "./event-bus.ts";

const never = new AbortController().signal;
const asked = (approvalId: string): ApprovalRequest => ({
  approvalId,
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
  chain: [],
  tainted: false,
  mustConfirm: false,
});

/** A desk over one session whose runs wait for what they are told to wait for. */
function createDesk({ isAnswered = false } = {}) {
  const parked: (Parked | LeftForLater)[] = [];
  const bus = new EventBus();
  const runs = new Map<string, { waits: Set<string>; slot: { isUsed: boolean } }>();
  const session = {
    live: runs,
    lease: { park: async (why: Parked | LeftForLater) => void parked.push(why) },
  };
  const desk = new ApprovalDesk({ look: async () => isAnswered }, bus, new Map([["ses_1", session]]));
  const setRun = (id: string, waits: string[], isUsed = false) =>
    runs.set(id, { waits: new Set(waits), slot: { isUsed } });
  /** Lets a change of the session be seen. */
  const tell = async () => {
    bus.publish({ type: "run.waiting", runId: "run_1", on: "approval", sessionId: "ses_1", atMs: 0 });
    for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { desk, parked, setRun, tell };
}

test("a session is left once all that lives in it waits, with the questions that are open", async () => {
  const { desk, parked, setRun, tell } = createDesk();
  setRun("run_lead", ["children"]);
  setRun("run_1", ["approval"]);
  setRun("run_2", [], true);
  void desk.ask(asked("apr_1"), never);
  void desk.ask(asked("apr_2"), never);
  await tell();
  expect(parked).toEqual([]);
  setRun("run_2", ["pause"]);
  await tell();
  expect(parked).toMatchObject([{ approvalIds: ["apr_1", "apr_2"] }]);
  await tell();
  expect(parked).toHaveLength(1);
});

test("a run that is inside a call is at work, whatever else it waits for", async () => {
  const { desk, parked, setRun, tell } = createDesk();
  setRun("run_1", ["approval"], true);
  void desk.ask(asked("apr_1"), never);
  await tell();
  expect(parked).toEqual([]);
});

test("a session whose question was answered meanwhile is not left", async () => {
  const { desk, parked, setRun, tell } = createDesk({ isAnswered: true });
  setRun("run_1", ["approval"]);
  void desk.ask(asked("apr_1"), never);
  await tell();
  expect(parked).toEqual([]);
});

test("a question of a run that was stopped is answered at once, and counts for nothing", async () => {
  const { desk, parked, setRun, tell } = createDesk();
  setRun("run_1", ["children"]);
  const stopped = new AbortController();
  const asking = desk.ask(asked("apr_1"), stopped.signal);
  stopped.abort();
  expect(await asking).toMatchObject({ allowed: false });
  expect(await desk.ask(asked("apr_2"), AbortSignal.abort())).toMatchObject({ allowed: false });
  await tell();
  expect(parked).toEqual([]);
});
