import stringWidth from "string-width";
import { expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { hasTmux, Pane, type Size } from "./pane.ts";
import { World } from "./world.ts";

const TASKS = {
  scout: "find the 調査 module and tell where its settings are read",
  digger: "dig",
  cook: "write the recipe",
  poet: "a poem 👩‍👩‍👧‍👦 about trees",
  judge: "is it sound?",
};
const AGENTS = Object.keys(TASKS);

/** main gives five tasks out at once; scout and judge hand theirs on, and who works for them answers when told to. */
async function liveWorld(
  answer: (request: ModelRequest) => ModelReply | Promise<ModelReply>,
): Promise<World> {
  const world = new World();
  const give = (agent: string, task: string) => ({ name: "delegate", input: { agent, task } });
  world.model = await startModel((request) => {
    const { system, turn } = request;
    const name = /You are (\w+)\./.exec(system)?.[1] ?? "";
    if (name === "main")
      return turn === 0
        ? { calls: Object.entries(TASKS).map(([agent, task]) => give(agent, task)) }
        : { text: "All five are done." };
    if (name === "scout" && turn === 0)
      return { calls: [give("digger", "dig here"), give("digger", "dig there")] };
    if (name === "judge" && turn === 0) return { calls: [give("poet", "rhyme")] };
    if (name === "scout" || name === "judge") return { text: "done" };
    return answer(request);
  });
  world.agent("main", `icon: 🎩\nsubagents: [${AGENTS.join(", ")}]`);
  world.agent("scout", "icon: 🔍\nsubagents: [digger]");
  world.agent("digger", "icon: ⛏️");
  world.agent("cook", "icon: 👩‍🍳\ntools: [write]");
  world.agent("poet", "");
  world.agent("judge", "icon: ⚖️\nsubagents: [poet]");
  return world;
}

const isNested = (text: string) =>
  text.includes("dig there") && text.includes("rhyme") && text.includes("cook");
/** Times and tokens are what they are. */
const withoutNumbers = (text: string) =>
  text.replaceAll(/ +[\d.]+m?s(?: +\d+(?: tok)? +\$\?)? +(?=[⏸⏳✅])/gu, " | ");

for (const size of [
  { columns: 80, rows: 24 },
  { columns: 160, rows: 50 },
] satisfies Size[]) {
  test.skipIf(!hasTmux)(
    `a tree of nine runs is drawn without a broken row at ${size.columns}x${size.rows}, and collapses in the end`,
    async () => {
      const gate = Promise.withResolvers<ModelReply>();
      await using world = await liveWorld(() => gate.promise);
      using pane = new Pane(world, ["run", "do five things"], size);
      const live = await pane.until((text) => isNested(text) && text.split("waiting").length === 4);
      const scout = size.columns === 80 ? "find the 調査 module and tell…" : TASKS.scout;
      expect(withoutNumbers(live).split("\n")).toEqual([
        "🎩 main  do five things | ⏸  waiting",
        `├─ 🔍 scout  ${scout} | ⏸  waiting`,
        "│  ├─ ⛏  digger  dig here | ⏳ running",
        "│  └─ ⛏  digger  dig there | ⏳ running",
        "├─ ⛏  digger  dig | ⏳ running",
        "├─ 👩 cook  write the recipe | ⏳ running",
        "├─ poet  a poem 👩👩👧👦 about trees | ⏳ running",
        "└─ ⚖  judge  is it sound? | ⏸  waiting",
        "   └─ poet  rhyme | ⏳ running",
      ]);
      for (const line of live.split("\n")) expect(stringWidth(line)).toBeLessThan(size.columns);
      expect(pane.isCursorShown).toBe(false);
      pane.type("hello", "Enter", "Enter");
      gate.resolve({ text: "done" });
      const end = await pane.has("exit 0");
      expect(end).not.toContain("hello");
      expect(withoutNumbers(end)).toContain("⚖  judge  is it sound?  · 1 sub-agent | ✅ completed\nAll five");
      expect(end.split("All five are done.\n")[1]).toMatch(
        /^9 agents · 0 tool calls · 180 tokens · \$\? · [\d.]+m?s · trace ses_\w+\nexit 0 isig icanon echo$/,
      );
      expect(end.match(/✅ completed/g)).toHaveLength(5);
      expect(pane.isCursorShown).toBe(true);
    },
  );
}

test.skipIf(!hasTmux)(
  "Ctrl-C once stops everything, says when it has settled, and gives the terminal back",
  async () => {
    await using world = await liveWorld(() => ({ hang: true }));
    using pane = new Pane(world, ["run", "wait for ever"], { columns: 100, rows: 30 });
    await pane.until(isNested);
    pane.type("C-c");
    const end = await pane.has("exit ");
    expect(end).toMatch(/^stopping; once more to leave at once$/m);
    expect(end.match(/⚠ {2}cancelled/g)).toHaveLength(5);
    expect(end).toMatch(/^interrupted: what was under way has settled$/m);
    expect(end).toMatch(/^exit 130 isig icanon echo$/m);
    expect(pane.isCursorShown).toBe(true);
    expect((await world.run(["trace", "last"])).stdout).not.toContain("running");
  },
);

test.skipIf(!hasTmux)("Ctrl-C twice leaves at once, and the terminal is as it was", async () => {
  await using world = await liveWorld(() => ({ hang: true }));
  using pane = new Pane(world, ["run", "wait for ever"], { columns: 80, rows: 24 });
  await pane.until(isNested);
  pane.type("C-c", "C-c");
  const end = await pane.has("exit ");
  expect(end).toMatch(/^exit 130 isig icanon echo$/m);
  expect(end).not.toContain("interrupted");
  expect(pane.isCursorShown).toBe(true);
});

test.skipIf(!hasTmux)(
  "a question has the terminal for itself, and the tree comes back after it",
  async () => {
    await using world = await liveWorld(({ system, turn }) =>
      system.includes("You are cook.") && turn === 0
        ? { calls: [{ name: "write", input: { path: "recipe.md", content: "eggs" } }] }
        : system.includes("You are cook.")
          ? { text: "cooked" }
          : { hang: true },
    );
    world.writeAt(
      `${world.config}/retinue/settings.json`,
      JSON.stringify({ permissions: { ask: ["write"] } }),
    );
    using pane = new Pane(world, ["run", "do five things"], { columns: 100, rows: 40 });
    const asked = await pane.has("allow write for cook? [y/N]");
    expect(asked).toMatch(/^⏸ main > cook asks to use write: /m);
    expect(asked).not.toContain("🎩");
    expect(pane.isCursorShown).toBe(true);
    pane.type("y", "Enter");
    const after = await pane.until((text) => /cook .*completed/.test(text));
    expect(after).toMatch(/\[y\/N\] y\n🎩 main/);
    expect(world.read("recipe.md")).toBe("eggs");
    pane.resize({ columns: 60, rows: 40 });
    const narrow = await pane.until((text) => /^🎩 main.{1,50}waiting$/m.test(text));
    expect(narrow.split("🎩")).toHaveLength(2);
    pane.type("C-c");
    expect(await pane.has("exit ")).toContain("exit 130");
  },
);

test.skipIf(!hasTmux)("a terminal that cannot move its cursor gets one line for each event", async () => {
  await using world = await liveWorld(() => ({ text: "done" }));
  using pane = new Pane(world, ["run", "do five things"], { columns: 100, rows: 50 }, { TERM: "dumb" });
  expect(await pane.has("exit 0")).toContain("▶ started main [local/mock] do five things");
});

test.skipIf(!hasTmux)("there are colours, unless nobody wants them", async () => {
  await using world = await liveWorld(() => ({ hang: true }));
  const size = { columns: 80, rows: 24 };
  using coloured = new Pane(world, ["run", "do five things"], size);
  using plain = new Pane(world, ["run", "do five things"], size, { NO_COLOR: "1" });
  await Promise.all([coloured, plain].map((pane) => pane.until(isNested)));
  expect(coloured.coloured()).toContain("\u001b[");
  expect(plain.coloured()).not.toContain("\u001b[");
  for (const pane of [coloured, plain]) pane.type("C-c");
  await Promise.all([coloured, plain].map((pane) => pane.has("exit 130")));
});
