import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { describe, expect, test } from "vitest";
import { startModel } from "./model.ts";
import { hasTmux, Pane } from "./pane.ts";
import { World } from "./world.ts";

const SIZE = { columns: 120, rows: 40 };
const LINEAR = { RETINUE_LINEAR: "1" };
const QUESTION = "allow write for main? [y/N]";
const ME = userInfo().username;

/** A world whose agent writes so many files, one after the other, each only after asking. */
async function askingWorld(files = 1): Promise<World> {
  const world = new World();
  world.model = await startModel(({ turn }) =>
    turn < files
      ? { calls: [{ name: "write", input: { path: `${turn}.txt`, content: "x" } }] }
      : { text: "all done" },
  );
  world.agent("main", "tools: [write]\naskTools: [write]");
  return world;
}

type Waiting = { approval_id: string; session_id: string; tool_input: { path: string } };

async function waitingIn(world: World): Promise<Waiting[]> {
  return JSON.parse((await world.call(["approve", "--json"])).stdout) as Waiting[];
}

/** Answers what a terminal asks from another process, which leaves the session to that terminal. */
async function answerElsewhere(world: World, ...flags: string[]): Promise<string> {
  const [asked] = await waitingIn(world);
  const id = asked?.approval_id ?? "";
  const { code, stderr } = await world.call(["approve", id, ...flags]);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/goes on with the answer|has ended/)]);
  return id;
}

const isWritten = (world: World, file: string) => existsSync(join(world.project, file));
const count = (text: string, part: string) => text.split(part).length - 1;

/** Ends the process that has the only session, without a chance to tidy up. */
async function killHolder(world: World): Promise<void> {
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  const [session] = (await record.listSessions({ limit: 1 })).sessions;
  const pid = /^process (\d+) on /.exec((await record.findHolder(session?.session_id ?? "")) ?? "")?.[1];
  await record.close();
  process.kill(Number(pid), "SIGKILL");
}

describe.skipIf(!hasTmux)("a question at a terminal", () => {
  test("waits on when the window is closed: nobody said no", async () => {
    await using world = await askingWorld();
    using pane = new Pane(world, ["run", "write it down"], SIZE);
    await pane.has(QUESTION);
    await pane.closeWindow();
    const [asked] = await waitingIn(world);
    const { code, stdout } = await world.run(["approve", asked?.approval_id ?? "", "--yes"]);
    expect([code, stdout, isWritten(world, "0.txt")]).toEqual([0, "all done\n", true]);
  });

  test("is answered by another process: the prompt says so, the run goes on, and the terminal is as it was", async () => {
    await using world = await askingWorld();
    using pane = new Pane(world, ["run", "write it down"], SIZE);
    await pane.has(QUESTION);
    await answerElsewhere(world, "--yes");
    const end = await pane.has("exit ");
    expect(end).toContain(`${QUESTION} (answered elsewhere: allowed by ${ME})`);
    expect(end).toContain("all done");
    expect(end).toMatch(/^exit 0 isig icanon echo$/m);
    expect(pane.isCursorShown).toBe(true);
    expect(isWritten(world, "0.txt")).toBe(true);
  });

  test("is taken away under half an answer, which is not taken for the next question's", async () => {
    await using world = await askingWorld(2);
    using pane = new Pane(world, ["run", "write it down"], SIZE, LINEAR);
    await pane.has(QUESTION);
    pane.type("y");
    await pane.has(`${QUESTION} y`);
    await answerElsewhere(world, "--deny", "--note", "not on a Friday");
    const next = await pane.until((text) => count(text, QUESTION) === 2);
    expect(next).toContain(`(answered elsewhere: denied by ${ME})`);
    expect(next).toContain(`denied, by ${ME}: not on a Friday`);
    pane.type("Enter");
    expect(await pane.has("exit ")).toMatch(/^exit 0 isig icanon echo$/m);
    expect([isWritten(world, "0.txt"), isWritten(world, "1.txt")]).toEqual([false, false]);
  });

  test("that is answered there is answered for everybody", async () => {
    await using world = await askingWorld();
    using pane = new Pane(world, ["run", "write it down"], SIZE, LINEAR);
    await pane.has(QUESTION);
    const [asked] = await waitingIn(world);
    expect(asked?.tool_input).toEqual({ path: "0.txt", content: "x" });
    pane.type("y", "Enter");
    await pane.has("exit 0");
    expect(await waitingIn(world)).toEqual([]);
    const late = await world.call(["approve", asked?.approval_id ?? "", "--deny"]);
    expect([late.code, late.stderr]).toEqual([
      42,
      expect.stringContaining("was allowed by the person at the terminal"),
    ]);
  });

  test("goes away when its run is stopped", async () => {
    await using world = await askingWorld();
    using pane = new Pane(world, ["run", "write it down"], SIZE, LINEAR);
    await pane.has(QUESTION);
    const [asked] = await waitingIn(world);
    await world.call(["cancel", asked?.session_id ?? ""]);
    expect(await pane.has("exit ")).toMatch(/^exit \d+ isig icanon echo$/m);
    expect(await waitingIn(world)).toEqual([]);
    const late = await world.call(["approve", asked?.approval_id ?? "", "--yes"]);
    expect([late.code, late.stderr]).toEqual([42, expect.stringContaining("denied by the stop of the run")]);
  });

  test("outlives a kill: the answer that is given meanwhile is found when the session goes on", async () => {
    await using world = await askingWorld();
    using pane = new Pane(world, ["run", "write it down"], SIZE, LINEAR);
    await pane.has(QUESTION);
    await killHolder(world);
    expect(await pane.has("exit ")).toMatch(/^exit 137 isig icanon echo$/m);
    const [asked] = await waitingIn(world);
    const later = await world.call(["approve", asked?.approval_id ?? "", "--yes", "--later"]);
    expect(later.code).toBe(0);
    const resumed = await world.call(["resume", asked?.session_id ?? ""]);
    expect([resumed.code, resumed.stdout]).toEqual([0, "all done\n"]);
    expect(isWritten(world, "0.txt")).toBe(true);
  });

  test("outlives a kill: without an answer it is asked again, and is the same one", async () => {
    await using world = await askingWorld();
    using pane = new Pane(world, ["run", "write it down"], SIZE, LINEAR);
    await pane.has(QUESTION);
    await killHolder(world);
    await pane.has("exit 137");
    const before = await waitingIn(world);
    using again = new Pane(world, ["resume"], SIZE, LINEAR);
    await again.has(QUESTION);
    expect(await waitingIn(world)).toEqual(before);
    again.type("y", "Enter");
    await again.has("exit 0");
    expect([isWritten(world, "0.txt"), await waitingIn(world)]).toEqual([true, []]);
  });

  test("goes from the screen of `retinue` when somebody else allows it, and a line says who did", async () => {
    await using world = await askingWorld();
    using pane = new Pane(world, [], SIZE);
    await pane.has("❯ ask for something");
    pane.type("-l", "write it down");
    pane.type("Enter");
    await pane.has("y allow once");
    await answerElsewhere(world, "--yes");
    const done = await pane.has("completed main");
    expect(done).toContain(`write was allowed by ${ME}`);
    expect(done).not.toContain("Approval needed");
    expect(isWritten(world, "0.txt")).toBe(true);
    pane.type("C-c");
    await pane.has("Ctrl-C again to leave");
    pane.type("C-c");
    expect(await pane.has("exit ")).toMatch(/exit 0 isig icanon echo/);
  });

  test("line by line: an answer that comes too late is not sent as a message", async () => {
    const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
    await using world = await askingWorld();
    await world.model?.close();
    world.model = await startModel(async ({ turn }) => {
      if (turn === 0) return { calls: [{ name: "write", input: { path: "0.txt", content: "x" } }] };
      await goOn;
      return { text: "all done" };
    });
    using pane = new Pane(world, ["--linear"], SIZE);
    await pane.has("you:");
    pane.type("-l", "write it down");
    pane.type("Enter");
    await pane.has("answer y for once");
    await answerElsewhere(world, "--deny", "--note", "another time");
    await pane.has(`denied by ${ME}: another time`);
    pane.type("y", "Enter");
    await pane.has("the question has gone");
    letGo();
    await pane.has("all done");
    pane.type("-l", "/quit");
    pane.type("Enter");
    const screen = await pane.has("exit 0");
    expect(screen).not.toContain("message to main");
    expect(isWritten(world, "0.txt")).toBe(false);
  });
});
