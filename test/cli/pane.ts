import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { MAIN, type World } from "./world.ts";

/**
 * Whether tests on a real terminal are run. Without tmux they are skipped, and `npm test` says how to install it; where
 * nothing may be skipped they are run and fail.
 */
export const hasTmux = process.env.RETINUE_NO_SKIP === "1" || spawnSync("tmux", ["-V"]).status === 0;

/** The size of a terminal. */
export type Size = { columns: number; rows: number };

const LOOK_MS = 20;
let panes = 0;

/** The program on a terminal of its own; in the end the pane says `exit CODE` and the modes the terminal is left in. */
export class Pane {
  readonly #server = `retinue-${process.pid}-${panes++}`;
  readonly #pidFile: string;

  constructor(world: World, args: readonly string[], size: Size, env: Record<string, string> = {}) {
    const all = world.environment({ LANG: "C.UTF-8", TERM: "tmux-256color", ...env });
    const script = join(world.root, `${this.#server}.sh`);
    const words = [process.execPath, MAIN, ...args].map(quoted).join(" ");
    const variables = Object.entries(all).map(([name, value]) => quoted(`${name}=${value}`));
    const modes = "stty -a | tr ' ;' '\\n\\n' | grep -xE -- '-?(echo|icanon|isig)' | tr '\\n' ' '";
    this.#pidFile = `${script}.pid`;
    const program = `${script}.program`;
    writeFileSync(
      program,
      `echo $$ > ${quoted(this.#pidFile)}\nexec env -i ${variables.join(" ")} ${words}\n`,
    );
    const lines = [
      `cd ${quoted(world.project)}`,
      `sh ${quoted(program)}`,
      `echo "exit $? $(${modes})"`,
      "read -r _",
    ];
    writeFileSync(script, lines.join("\n"));
    const { columns, rows } = size;
    const where = ["-x", String(columns), "-y", String(rows)];
    this.#tmux("-u", "-f", "/dev/null", "new-session", "-d", ...where, `sh ${quoted(script)}`);
  }

  /** What is on the screen, without the blank lines below it. */
  text(): string {
    return this.#tmux("capture-pane", "-p").trimEnd();
  }

  /** The same with the codes for colours. */
  coloured(): string {
    return this.#tmux("capture-pane", "-p", "-e").trimEnd();
  }

  /** Waits until the screen looks so. */
  async until(looks: (text: string) => boolean): Promise<string> {
    for (;;) {
      const text = this.text();
      if (looks(text)) return text;
      await pause(LOOK_MS);
    }
  }

  /** Waits until the screen has a text. */
  has(text: string): Promise<string> {
    return this.until((screen) => screen.includes(text));
  }

  /** Types keys, by the names tmux has for them; all at once. */
  type(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  resize({ columns, rows }: Size): void {
    this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  get isCursorShown(): boolean {
    return this.#tmux("display-message", "-p", "#{cursor_flag}").trim() === "1";
  }

  /** Sends the program a signal. */
  kill(signal: NodeJS.Signals): void {
    process.kill(this.#pid, signal);
  }

  /** Closes the window under the program, and waits until that has ended. */
  async closeWindow(): Promise<void> {
    const pid = this.#pid;
    this[Symbol.dispose]();
    while (existsSync(`/proc/${pid}`)) await pause(LOOK_MS);
  }

  get #pid(): number {
    return Number(readFileSync(this.#pidFile, "utf8"));
  }

  [Symbol.dispose](): void {
    spawnSync("tmux", ["-L", this.#server, "kill-server"]);
  }

  #tmux(...args: string[]): string {
    return execFileSync("tmux", ["-L", this.#server, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
