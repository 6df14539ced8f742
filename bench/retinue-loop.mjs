// The same delegation on Retinue, with record, rights and budgets on. Runs the built program.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineAgent, defineTool } from "../dist/index.js";
import { assembleRuntime } from "../dist/testing.js";

const { BENCH_URL: base, BENCH_MODE: mode } = process.env;
const dataDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));

const note = defineTool({
  name: "note",
  description: "Takes a note.",
  replay: "safe",
  risk: "low",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: async ({ text }) => `noted ${text}`,
});
const options = {
  agents: [
    defineAgent({
      name: "lead",
      description: "Leads.",
      prompt: "You lead.",
      tools: [],
      grants: ["note"],
      subagents: { allow: ["worker", "link"], maxConcurrent: 100_000 },
    }),
    defineAgent({
      name: "worker",
      description: "Works.",
      prompt: "You take notes and report.",
      tools: ["note"],
    }),
    defineAgent({
      name: "link",
      description: "Works, and hands on what is left.",
      prompt: "You take notes and report.",
      tools: ["note"],
      subagents: { allow: ["link"], recursive: true },
    }),
  ],
  tools: [note],
  model: "bench/mock",
  settings: {
    providers: {
      bench: { kind: "openai-compatible", baseUrl: `${base}/v1`, apiKey: "none", maxConcurrent: 100_000 },
    },
    limits: { tokens: 1_000_000_000, minutes: 30 },
    maxConcurrent: 100_000,
    maxAgents: 1_000_000,
  },
  dataDir,
  projectDir: dataDir,
};

const record = mode === "unrecorded" ? (await import("./null-record.mjs")).createNullRecord() : undefined;
const runtime = record ? assembleRuntime(options, { record }) : createRuntime(options);
const run = async (agent, task) => {
  const result = await runtime.run({ agent, task });
  if (result.status !== "completed") throw new Error(JSON.stringify(result));
};

const start = () => run("worker", "first");
if (mode === "start") await start();
else {
  const { measureAgents } = await import("./measure.mjs");
  await measureAgents({
    start,
    fanOut: (size) => run("lead", `fan out ${size} agent worker`),
    chain: (depth) => run("lead", `chain ${depth} agent link`),
  });
}
await runtime.close();
rmSync(dataDir, { recursive: true, force: true });
