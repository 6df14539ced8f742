import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { ModelServer } from "./model.ts";

/** The program as it is built. */
export const MAIN = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const FIXTURES = fileURLToPath(new URL("../fixtures/agents", import.meta.url));

/** The parts that the program's entry loads, by the names that the build gave them. */
function loadProgram(): Promise<
  Pick<typeof import("@retinue/cli/run-cli"), "runCli"> &
    Pick<typeof import("@retinue/cli/terminal"), "createTerminal">
> {
  const entry = readFileSync(new URL("../../dist/program.js", import.meta.url), "utf8");
  const parts = [...entry.matchAll(/import\([`"]\.\/([^`"]+)[`"]\)/g)].map(
    ([, name]) => import(/* @vite-ignore */ new URL(`../../dist/${name}`, import.meta.url).href),
  );
  return Promise.all(parts).then(([program, terminal]) => ({ ...program, ...terminal }));
}

/** How a call of the program ended. */
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

/** A call under way. */
export type Started = { child: ChildProcess; ended: Promise<Ended>; stderrHas(text: string): Promise<void> };

/** How a call differs from the usual one. */
export type CallOptions = {
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
  /** A program that the call is made through, with its arguments. */
  through?: readonly string[];
};

/** A person's machine in a folder of its own: home, settings, data and one project. */
export class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-cli-")));
  readonly project = join(this.root, "project");
  readonly home = join(this.root, "home");
  readonly config = join(this.root, "config");
  readonly data = join(this.root, "data");
  model: ModelServer | undefined;

  constructor() {
    for (const dir of [this.project, this.home, this.config]) mkdirSync(dir);
  }

  /** Writes a file of the project. */
  write(path: string, text: string): string {
    return this.writeAt(join(this.project, path), text);
  }

  writeAt(path: string, text: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Writes an agent file of our own format. */
  agent(name: string, fields: string, prompt = `You are ${name}.`): string {
    const text = `---\nname: ${name}\ndescription: Plays ${name}.\n${fields}\n---\n${prompt}\n`;
    return this.write(`.retinue/agents/${name}.md`, text);
  }

  /** Copies a fixture of agent files into the project. */
  copyFixture(from: string, to = "."): void {
    cpSync(join(FIXTURES, from), join(this.project, to), { recursive: true });
  }

  read(path: string): string {
    return readFileSync(join(this.project, path), "utf8");
  }

  /** The variables that a call is made with. */
  environment(more: Record<string, string> = {}): Record<string, string> {
    const model = this.model && { RETINUE_BASE_URL: this.model.url, RETINUE_MODEL: "mock" };
    return {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      XDG_CONFIG_HOME: this.config,
      RETINUE_HOME: this.data,
      // As on a machine where the program has run before.
      NODE_COMPILE_CACHE: join(tmpdir(), "retinue-compiled"),
      ...model,
      ...more,
    };
  }

  start(args: readonly string[], options: CallOptions = {}): Started {
    const env = this.environment(options.env);
    const [program = "", ...rest] = [...(options.through ?? []), process.execPath, MAIN, ...args];
    const child = spawn(program, rest, { cwd: options.cwd ?? this.project, env });
    const got = { stdout: "", stderr: "" };
    const listeners = new Set<() => void>();
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        got[name] += text;
        for (const listener of listeners) listener();
      });
    }
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve({ code, signal, ...got }));
    });
    const stderrHas = (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => got.stderr.includes(text) && resolve();
        listeners.add(look);
        child.once("close", () => reject(new Error(`it ended without saying '${text}': ${got.stderr}`)));
        look();
      });
    return { child, ended, stderrHas };
  }

  run(args: readonly string[], options: CallOptions = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** Calls the built program in this process, for a tenth of the time. Not for what is about processes: signals, their end. */
  async call(
    args: readonly string[],
    options: Pick<CallOptions, "input" | "env" | "cwd"> = {},
  ): Promise<Ended> {
    const { runCli, createTerminal } = await loadProgram();
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
    streams.stdin.end(options.input ?? "");
    const outputs = [text(streams.stdout), text(streams.stderr)] as const;
    const host = {
      ...(streams as unknown as Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">),
      env: this.environment(options.env),
      cwd: () => options.cwd ?? this.project,
    };
    const code = await runCli(args, createTerminal(host));
    streams.stdout.end();
    streams.stderr.end();
    const [stdout, stderr] = await Promise.all(outputs);
    return { code, signal: null, stdout, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.model?.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
