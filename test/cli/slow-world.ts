import { startModel } from "./model.ts";
import { World } from "./world.ts";

/** Main delegates once; its first reply comes when it is let go, and the worker's at once. */
export async function slowWorld(): Promise<{ world: World; asked: Promise<void>; letGo: () => void }> {
  const world = new World();
  const { promise: given, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  world.model = await startModel(async ({ system, turn }) => {
    if (!system.includes("You are main.")) return { text: "the worker's result" };
    if (turn > 0) return { text: "all done" };
    ask();
    await given;
    return { calls: [{ name: "delegate", input: { agent: "worker", task: "a" } }] };
  });
  world.agent("main", "subagents: [worker]");
  world.agent("worker", "");
  return { world, asked, letGo };
}
