import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { hasTmux, Pane } from "./pane.ts";
import { slowWorld } from "./slow-world.ts";
import { World } from "./world.ts";

const SMALL = { columns: 80, rows: 24 };
const LARGE = { columns: 160, rows: 50 };
const OFFLINE = { RETINUE_DISCOVER: "0" };

/** main hands two parts out: the writer has to ask, and the reader is done at once. */
function script({ system, turn, last }: ModelRequest): ModelReply {
  if (system.includes("You are main.")) {
    if (last.includes("hang")) return { hang: true };
    if (last.includes("delegate")) {
      const calls = ["writer", "reader"].map((agent) => ({
        name: "delegate",
        input: { agent, task: `the part of ${agent}` },
      }));
      return { calls };
    }
    return { text: "All **done**." };
  }
  if (system.includes("You are writer.") && turn === 0)
    return { calls: [{ name: "write", input: { path: "out.txt", content: "written\n" } }] };
  return { text: `${system.includes("You are reader.") ? "reader" : "writer"} is done` };
}

async function scriptedWorld(): Promise<World> {
  const world = new World();
  world.model = await startModel(script);
  world.agent("main", "subagents: [writer, reader]");
  world.agent("writer", "");
  world.agent("reader", "");
  world.writeAt(
    join(world.config, "retinue/settings.json"),
    JSON.stringify({ permissions: { ask: ["write"] } }),
  );
  return world;
}

/** The screen is whole: nothing has scrolled, and its last row is the status. */
function expectWhole(screen: string, rows: number): void {
  const lines = screen.split("\n");
  expect(lines).toHaveLength(rows);
  expect(lines.at(-1)).toMatch(/^main · /);
  expect(lines.filter((line) => line.includes("/help") || /Esc (stops|back)/.test(line))).toHaveLength(1);
}

async function leave(pane: Pane): Promise<void> {
  pane.type("C-c");
  await pane.has("Ctrl-C again to leave");
  pane.type("C-c");
  const screen = await pane.has("exit 0");
  expect(screen).toMatch(/exit 0 isig icanon echo/);
  expect(pane.isCursorShown).toBe(true);
}

describe.skipIf(!hasTmux)("the screen of `retinue`", () => {
  test("a question is typed and answered without any model, and two Ctrl-C leave a sane terminal", async () => {
    await using world = new World();
    world.write("notes.md", "hello\n");
    using pane = new Pane(world, [], SMALL, OFFLINE);
    await pane.has("❯ ask for something");
    pane.type("-l", "what files are here?");
    pane.type("Enter");
    const screen = await pane.has("completed main");
    expect(screen).toMatch(/● +notes\.md/);
    expectWhole(screen, SMALL.rows);
    await leave(pane);
    expect(pane.text()).toMatch(/^session ses_\w+ · go on with: retinue tui -r ses_\w+$/m);
    const [file = ""] = readdirSync(join(world.data, "history"));
    const path = join(world.data, "history", file);
    expect(readFileSync(path, "utf8")).toBe('"what files are here?"\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    using again = new Pane(world, ["tui", "--continue"], SMALL, { ...OFFLINE, LANG: "C" });
    const back = await again.has("in session ses_");
    expect(back).toContain("> what files are here?");
    expect(back).toMatch(/^[\x20-\x7e\n]*$/);
    await leave(again);
  });

  for (const size of [SMALL, LARGE]) {
    test(`at ${size.columns}x${size.rows}: approve, open a transcript, go back, go on in the same session`, async () => {
      await using world = await scriptedWorld();
      using pane = new Pane(world, [], size);
      await pane.has("❯ ask for something");
      pane.type("-l", "delegate it");
      pane.type("Enter");
      const asked = await pane.has("y allow once");
      expect(asked).toContain("main › writer");
      expect(asked).toMatch(/│ \+\+\+ b\/out\.txt[\s\S]*│ \+written/);
      expectWhole(asked, size.rows);
      expect(existsSync(join(world.project, "out.txt"))).toBe(false);
      pane.type("y");
      const done = await pane.has("completed main");
      expect(world.read("out.txt")).toBe("written\n");
      expect(done).toContain("● All done.");
      expectWhole(done, size.rows);
      pane.type("Tab");
      await pane.has("↑↓ choose");
      pane.type("Down");
      await pane.until((screen) => /› .*writer/.test(screen));
      pane.type("Enter");
      const transcript = await pane.has("writer is done");
      expect(transcript).toMatch(/^writer · ✅ completed · run_/);
      expect(transcript).toContain("the part of writer");
      pane.type("Escape");
      await pane.has("● All done.");
      pane.type("-l", "and now?");
      pane.type("Enter");
      await pane.until(
        (screen) => screen.includes("❯ and now?") && /completed main[\s\S]*completed main/.test(screen),
      );
      await leave(pane);
      const { stdout } = await world.call(["sessions", "--json"]);
      expect(JSON.parse(stdout)).toHaveLength(1);
    });
  }

  test("Esc stops what runs and settles it; the conversation goes on", async () => {
    await using world = await scriptedWorld();
    using pane = new Pane(world, [], SMALL);
    await pane.has("❯ ask for something");
    pane.type("-l", "hang");
    pane.type("Enter");
    await pane.has("Esc stops");
    await pane.until(() => (world.model?.requests.length ?? 0) > 0);
    pane.type("Escape");
    await pane.has("cancelled main");
    const { stdout } = await world.call(["sessions", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ status: "cancelled" }]);
    pane.type("-l", "again");
    pane.type("Enter");
    await pane.has("● All done.");
    await leave(pane);
  });

  test("a resized window is redrawn completely", async () => {
    await using world = await scriptedWorld();
    using pane = new Pane(world, [], LARGE);
    await pane.has("❯ ask for something");
    pane.type("-l", "delegate it");
    pane.type("Enter");
    await pane.has("y allow once");
    pane.resize(SMALL);
    const small = await pane.until((screen) => /^main · .*run$/.test(screen.split("\n")[23] ?? ""));
    expectWhole(small, 24);
    pane.type("n");
    await pane.has("why not?");
    pane.type("-l", "not there");
    pane.type("Enter");
    expect(await pane.has("completed main")).toContain("denied by the person at the terminal: not there");
    expect(existsSync(join(world.project, "out.txt"))).toBe(false);
    await leave(pane);
  });

  test("without colour there is none", async () => {
    await using world = await scriptedWorld();
    using pane = new Pane(world, [], SMALL, { NO_COLOR: "1" });
    await pane.has("❯ ask for something");
    pane.type("-l", "hello");
    pane.type("Enter");
    await pane.has("completed main");
    expect(pane.coloured()).not.toContain("\u001b[");
    await leave(pane);
  });

  test("what a spawned agent reports is in the next prompt of the conversation, marked as data", async () => {
    await using world = await scriptedWorld();
    using pane = new Pane(world, ["--linear"], LARGE);
    await pane.has("you:");
    pane.type("-l", "/spawn reader look at it");
    pane.type("Enter");
    await pane.has("main is told of reader's report with your next prompt");
    pane.type("-l", "hello");
    pane.type("Enter");
    await pane.has("All **done**.");
    pane.type("-l", "and now?");
    pane.type("Enter");
    await pane.until((screen) => screen.split("All **done**.").length === 3);
    pane.type("-l", "/quit");
    pane.type("Enter");
    await pane.has("exit 0");
    const told = world.model?.requests.filter(({ system }) => system.includes("You are main.")) ?? [];
    expect(told[0]?.last).toMatch(/^hello\n[\s\S]*<subagent_result agent="reader"[\s\S]*reader is done/);
    expect(told[1]?.last).toBe("and now?");
    expect(told[1]?.all.match(/<subagent_result /g)).toHaveLength(1);
  });

  for (const [args, signal, code] of [
    [["tui"], "SIGTERM", 143],
    [["tui", "--linear"], "SIGHUP", 129],
  ] as const)
    test(`${signal} to \`${args.join(" ")}\` lets a model call end, begins none, and leaves the session to be resumed`, async () => {
      const { world, asked, letGo } = await slowWorld();
      await using _ = world;
      using pane = new Pane(world, args, LARGE);
      await pane.has(args.length === 1 ? "❯ ask for something" : "you:");
      pane.type("-l", "do it");
      pane.type("Enter");
      await asked;
      pane.kill(signal);
      await pane.has("once more to leave at once");
      letGo();
      const screen = await pane.has(`exit ${code} isig icanon echo`);
      expect(screen).toMatch(/^session (ses_\w+) · go on with: retinue tui -r \1$/m);
      expect(pane.isCursorShown).toBe(true);
      expect(world.model?.requests).toHaveLength(1);
      const resumed = await world.run(["resume"]);
      expect([resumed.code, resumed.stdout.trim()]).toEqual([0, "all done"]);
      expect(world.model?.requests).toHaveLength(3);
    });

  for (const args of [["tui"], ["tui", "--linear"]])
    test(`a window that is closed under \`${args.join(" ")}\` cancels nothing`, async () => {
      await using world = await scriptedWorld();
      world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify({ graceSeconds: 0 }));
      using pane = new Pane(world, args, LARGE);
      await pane.has(args.length === 1 ? "❯ ask for something" : "you:");
      pane.type("-l", "hang");
      pane.type("Enter");
      await pane.until(() => world.model?.requests.length === 1);
      await pane.closeWindow();
      const { stdout } = await world.run(["sessions", "--json"]);
      expect(JSON.parse(stdout)).toMatchObject([{ status: "running", state: "interrupted" }]);
    });

  test("line by line, nothing is redrawn and everything can be read", async () => {
    await using world = await scriptedWorld();
    using pane = new Pane(world, ["--linear"], LARGE);
    await pane.has("you:");
    pane.type("-l", "delegate it");
    pane.type("Enter");
    await pane.has("answer y for once");
    pane.type("-l", "y");
    pane.type("Enter");
    await pane.has("All **done**.");
    pane.type("-l", "/quit");
    pane.type("Enter");
    const screen = await pane.has("exit 0");
    expect(screen).toContain("approval needed: main > writer asks for write");
    expect(world.read("out.txt")).toBe("written\n");
    expect(pane.coloured()).not.toContain("\u001b[");
  });
});

test("without a terminal `retinue` prints its help", async () => {
  await using world = new World();
  const { code, stdout, stderr } = await world.run([]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("Usage: retinue");
});
