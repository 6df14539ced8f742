import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Lives, silence } from "../../../../test/fixtures/lives.ts";
import { say } from "../testing/index.ts";

test("a session that cannot be resumed is let go of, and goes on when it can", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  await using second = lives.open({ lead: [] }, { settings: { disabledAgents: ["lead"] } });
  await expect(second.runtime.resume(sessionId)).rejects.toThrow("cannot go on");
  expect(await second.runtime.record.findHolder(sessionId)).toBeNull();
  await using third = lives.open({ lead: [say("done")] });
  expect(await (await third.runtime.resume(sessionId)).result).toMatchObject({ status: "completed" });
});

test("a session whose folder is gone takes no further task, and is let go of", async () => {
  using lives = new Lives();
  const projectDir = join(lives.root, "project");
  mkdirSync(projectDir);
  const first = lives.open({ lead: [say("done")] }, { projectDir });
  const { session_id } = await first.runtime.run({ agent: "lead", task: "go" });
  await first.close();
  rmSync(projectDir, { recursive: true });
  await using second = lives.open({ lead: [] });
  const again = second.runtime.run({ agent: "lead", task: "more", session: session_id });
  await expect(again).rejects.toThrow(`the project folder ${projectDir} cannot be used`);
  expect(await second.runtime.record.findHolder(session_id)).toBeNull();
  expect((await second.runtime.record.findSession(session_id)).status).toBe("completed");
});

test("a session whose runs had all ended is closed by a resume, and let go of", async () => {
  using lives = new Lives();
  const first = lives.open({ lead: [say("done")] });
  const { session_id } = await first.runtime.run({ agent: "lead", task: "go" });
  await first.close();
  lives.sql("UPDATE sessions SET status = 'running'");
  await using second = lives.open({ lead: [] });
  const { result, runId } = await second.runtime.resume(session_id);
  expect(await result).toMatchObject({ status: "completed", summary: "done", run_id: runId });
  expect(await second.runtime.record.findHolder(session_id)).toBeNull();
  expect((await second.runtime.record.findSession(session_id)).status).toBe("completed");
  await expect(second.runtime.resume(session_id)).rejects.toThrow("there is nothing to resume");
});

test("a session that a process left in the middle of a task takes no other before that is finished", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  await using second = lives.open({ lead: [say("done"), say("more")] });
  const more = () => second.runtime.run({ agent: "lead", task: "more", session: sessionId });
  await expect(more()).rejects.toThrow("its process was stopped in the middle of a task");
  await (await second.runtime.resume(sessionId)).result;
  expect(await more()).toMatchObject({ summary: "more" });
});

test("of two runtimes of one process that resume a session the later has it, and the other ends without a trace", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  const again = silence();
  await using one = lives.open({ lead: [again.step] });
  const { result } = await one.runtime.resume(sessionId);
  await lives.leave(one, () => again.reached);
  await using other = lives.open({ lead: [say("by the other")] });
  expect(await (await other.runtime.resume(sessionId)).result).toMatchObject({ summary: "by the other" });
  one.runtime.cancel(sessionId);
  expect(await result).toMatchObject({ success: false });
  expect((await other.runtime.record.findSession(sessionId)).status).toBe("completed");
  const [run] = await other.runtime.record.readRows({ sessionId, kind: "runs" });
  expect([run?.status, run?.response_content]).toEqual(["completed", "by the other"]);
});
