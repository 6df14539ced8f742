// The same delegation on another library: BENCH_PEER is the path of its adapter, beside what it imports.
import { pathToFileURL } from "node:url";
import { measureAgents } from "./measure.mjs";

const { BENCH_PEER: adapter, BENCH_URL: base } = process.env;
const { createPeer } = await import(pathToFileURL(adapter).href);
await measureAgents(createPeer(`${base}/v1`));
// Some libraries leave timers behind; what was to be measured is printed.
process.exit();
