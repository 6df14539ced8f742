// Sub-agents on a scripted model in one process: no network, so what is left is Retinue itself.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineAgent } from "../dist/index.js";
import { callDelegateMany, hang, say, scriptedModel } from "../dist/testing.js";
import { measureCpu, report } from "./measure.mjs";

const { BENCH_N: count, BENCH_MODE: mode } = process.env;
const n = Number(count);
const dataDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));
const allowAll = { allow: ["*"], maxConcurrent: 100_000, recursive: true };

function runtimeWith(script) {
  const agent = (name) =>
    defineAgent({
      name,
      description: name,
      prompt: `You are ${name}.`,
      subagents: allowAll,
      limits: { depth: 100 },
    });
  return createRuntime({
    agents: ["l0", "l1", "l2", "l3"].map(agent),
    model: scriptedModel("bench", script),
    settings: {
      maxConcurrent: 100_000,
      maxAgents: 1_000_000,
      maxDepth: 64,
      limits: { minutes: 30, tokens: 1e12 },
    },
    dataDir,
    projectDir: dataDir,
  });
}

const fanOut = (agent, size) =>
  callDelegateMany(Array.from({ length: size }, (_, index) => ({ id: `${index}`, agent, task: "go on" })));

/** Each run knows its depth from the awareness block in its prompt. */
const depthOf = (request) => Number(/depth (\d+) of/.exec(request.options.prompt[0].content)?.[1] ?? 0);

const scripts = {
  flat: (request) => (depthOf(request) === 0 && request.turn === 0 ? fanOut("l1", n) : say("done")),
  chain: (request) =>
    depthOf(request) < n && request.turn === 0 ? fanOut(`l${(depthOf(request) + 1) % 4}`, 1) : say("done"),
  tree: (request) =>
    depthOf(request) < 3 && request.turn === 0 ? fanOut(`l${depthOf(request) + 1}`, n) : say("done"),
};

if (mode === "cancel") {
  let open = 0;
  const all = Promise.withResolvers();
  const runtime = runtimeWith((request) => {
    if (depthOf(request) === 0) return fanOut("l1", n);
    if (++open === n) all.resolve();
    return hang();
  });
  const { runId, result } = await runtime.start({ agent: "l0", task: "go" });
  await all.promise;
  const start = performance.now();
  runtime.cancel(runId);
  await result;
  report({ settledMs: performance.now() - start });
  await runtime.close();
} else {
  const warm = runtimeWith(scripts[mode]);
  const runtime = warm;
  const work = async () => {
    const result = await runtime.run({ agent: "l0", task: "go" });
    if (result.status !== "completed") throw new Error(JSON.stringify(result));
  };
  report(await measureCpu(work));
  await runtime.close();
}
rmSync(dataDir, { recursive: true, force: true });
