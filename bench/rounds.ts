/** Measured processes, the servers they talk to, and rounds in which several kinds take turns. */
import { spawn } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";

/** What a measured process prints. */
export type Numbers = Record<string, number>;

/** The path of a file beside this one. */
export const resolveFile = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** The middle value; of an even count, the upper of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** How a measured process runs: ended after `boundMs`; in an environment of its own unless it inherits this one. */
export type MeasureOptions = { boundMs?: number; inheritEnv?: boolean };

/** Runs one measured process and reads the JSON it prints. One that fails or takes too long rejects with its last words. */
export function measure(
  file: string,
  env: Record<string, string>,
  { boundMs, inheritEnv = true }: MeasureOptions = {},
): Promise<Numbers> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--conditions=retinue-source", "--expose-gc", resolveFile(file)], {
      env: { ...(inheritEnv && process.env), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: boundMs,
      killSignal: "SIGKILL",
    });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      errors = (errors + chunk).slice(-10_000);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve(output ? JSON.parse(output) : {});
      else if (signal === "SIGKILL" && boundMs) reject(new Error(`not finished after ${boundMs / 1000} s`));
      else reject(new Error(`${file} ended with ${signal ?? code}: ${errors.trim()}`));
    });
  });
}

/** A server that answers every model call with a short text and remembers when the latest one arrived. */
export async function listenForStart(): Promise<{ url: string; arrivedAt(): number; stop(): void }> {
  let arrived = 0;
  const delta = { role: "assistant", content: "ok" };
  const choices = [{ index: 0, delta, finish_reason: "stop" }];
  const reply = { id: "chatcmpl-1", object: "chat.completion.chunk", model: "mock", choices };
  const server = http.createServer((request, response) => {
    arrived = performance.now();
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify(reply)}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : address;
  return { url: `http://127.0.0.1:${port}`, arrivedAt: () => arrived, stop: () => server.close() };
}

/** Starts a server in a process of its own; by default the model's. */
export function startBenchServer(
  file = "server.ts",
  env: Record<string, string> = {},
): Promise<{ url: string; stop: () => void }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--conditions=retinue-source", resolveFile(file), "--port", "0"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.once("data", (line) =>
      resolve({ url: `http://127.0.0.1:${JSON.parse(String(line)).port}`, stop: () => child.kill() }),
    );
  });
}

/** Measures two or more kinds in turn, and gives what each round took. */
export async function takeTurns<Kind extends string, Taken>(
  kinds: readonly Kind[],
  rounds: number,
  one: (kind: Kind) => Promise<Taken>,
): Promise<Record<Kind, Taken[]>> {
  const taken = Object.fromEntries(kinds.map((kind) => [kind, [] as Taken[]])) as Record<Kind, Taken[]>;
  for (let round = 0; round < rounds; round++) for (const kind of kinds) taken[kind].push(await one(kind));
  return taken;
}
