import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { tryTo } from "@retinue/core/schema/error";

/** The sandbox program, and which of its newer abilities it has. */
export type Bubblewrap = {
  readonly program: string;
  /** Binds what an open file descriptor stands for, whatever the path leads to by then. */
  readonly pins: boolean;
  /** Keeps namespaces from being made inside. */
  readonly sealed: boolean;
  /** Limits what its temporary folders hold. */
  readonly sized: boolean;
};

const PLACES = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/usr/sbin", "/sbin"];
/**
 * Capabilities in the outer namespace. Linux lets root put a namespace into another only with this one; the command, in the
 * inner namespace, has none.
 */
export const OUTER_RIGHTS: readonly string[] = [
  ...["--cap-drop", "ALL"],
  ...(process.getuid?.() === 0 ? ["--cap-add", "CAP_SETFCAP"] : []),
];
const PROBE_MS = 10_000;
const known = new Map<string, Promise<Bubblewrap | { fault: string }>>();

/** A program of the system, never one that a project or a PATH entry could put in its place. */
export function findSystemProgram(name: string): string | undefined {
  const canRun = (path: string) => {
    accessSync(path, constants.X_OK);
    return true;
  };
  return PLACES.map((place) => `${place}/${name}`).find((path) => tryTo(() => canRun(path)));
}

/** Looks whether bubblewrap is there and really works here; asks once per process. */
export function findBubblewrap(given?: string | null): Promise<Bubblewrap | { fault: string }> {
  if (process.platform !== "linux")
    return Promise.resolve({ fault: `bubblewrap needs Linux, and this is ${process.platform}` });
  const program = given === undefined ? findSystemProgram("bwrap") : given;
  if (!program) return Promise.resolve({ fault: "bubblewrap (bwrap) is not installed" });
  const probing = known.get(program) ?? probe(program);
  known.set(program, probing);
  return probing;
}

async function probe(program: string): Promise<Bubblewrap | { fault: string }> {
  const help = await run(program, ["--help"]);
  if (help.failed) return { fault: `${program} cannot be run: ${help.output}` };
  const has = (option: string) => help.output.includes(option);
  const sealed = has("--disable-userns") && !(await tryOut(program, ["--disable-userns"])).failed;
  if (!sealed) {
    const plain = await tryOut(program, []);
    if (plain.failed) return { fault: `bubblewrap does not work here: ${plain.output}` };
  }
  return { program, sealed, pins: has("--ro-bind-fd"), sized: has("--size") };
}

/** Everything that may be refused to an ordinary user or in a container: namespaces, one in another, a fresh /proc, mounts. */
function tryOut(program: string, more: readonly string[]): Promise<Ran> {
  const mounts = "--ro-bind / / --proc /proc --dev /dev --tmpfs /tmp".split(" ");
  const always = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", ...OUTER_RIGHTS];
  const inner = [program, "--dev-bind", "/", "/", "--unshare-user", ...more, "--cap-drop", "ALL"];
  return run(program, [...always, ...mounts, "--", ...inner, "--", "/bin/sh", "-c", "true"]);
}

type Ran = { failed: boolean; output: string };

function run(program: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { env: {}, timeout: PROBE_MS, killSignal: "SIGKILL" },
      (error, stdout, stderr) => {
        const told = stderr.trim().split("\n")[0] || error?.message || "";
        resolve({ failed: error !== null, output: error ? told : `${stdout}${stderr}` });
      },
    );
  });
}
