import type { Word } from "./shell-word.ts";

/** What a command starts besides itself. */
export type Inner = {
  commands: (readonly Word[])[];
  scripts: string[];
  opaque: boolean;
  /** The same shell runs it: a `cd` in it holds for what follows. */
  sharesFolder?: boolean;
};

/** How a wrapper's own words are told from the command it starts. */
type Wrapper = {
  /** One-letter options without and with a value. */
  readonly flags?: string;
  readonly valued?: string;
  readonly long?: readonly string[];
  /** Operands of its own before the command. */
  readonly operands?: number;
  readonly assigns?: boolean;
  /** These options start nothing. */
  readonly inert?: string;
  /** It joins the words into a script. */
  readonly joins?: boolean;
  /** It fills in arguments that are not in the text. */
  readonly fills?: boolean;
  /** A single hyphen is one of its options. */
  readonly takesHyphen?: boolean;
};

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["builtin", {}],
  ["busybox", {}],
  ["caffeinate", { flags: "disu", valued: "tw" }],
  ["chroot", { operands: 1 }],
  ["chronic", {}],
  ["command", { flags: "pvV", inert: "vV" }],
  ["doas", { flags: "Lns", valued: "aCu" }],
  [
    "env",
    {
      flags: "i0v",
      valued: "uC",
      long: ["--ignore-environment", "--null"],
      assigns: true,
      takesHyphen: true,
    },
  ],
  ["exec", { flags: "cl", valued: "a" }],
  ["flock", { flags: "sxuneoF", valued: "wE", operands: 1 }],
  ["gtime", { flags: "pvaq", valued: "fo" }],
  ["gtimeout", { flags: "vfp", valued: "ks", operands: 1 }],
  ["ionice", { flags: "t", valued: "cnpPu" }],
  ["nice", { flags: "0123456789", valued: "n" }],
  ["nohup", {}],
  ["ltrace", { flags: "fcCirSttT", valued: "aAeFlLnopsuxX" }],
  ["setarch", { operands: 1 }],
  ["setsid", { flags: "cfw", long: ["--fork", "--wait", "--ctty"] }],
  ["stdbuf", { valued: "ioe" }],
  ["strace", { flags: "fFcCdhiqrtTvwxyz", valued: "aebIoOpPsSuEX" }],
  ["sudo", { flags: "AbEHknPSsiv", valued: "CDghpRrtTuU", assigns: true }],
  ["taskset", { flags: "ac", operands: 1 }],
  ["time", { flags: "pvaq", valued: "fo" }],
  [
    "timeout",
    { flags: "vfp", valued: "ks", long: ["--foreground", "--preserve-status", "--verbose"], operands: 1 },
  ],
  ["toybox", {}],
  ["unshare", { flags: "imnpuUCTfrc" }],
  ["watch", { flags: "bcdegprtwx", valued: "nq", joins: true }],
  [
    "xargs",
    {
      flags: "0rtpxoeil",
      valued: "adEILnPs",
      long: ["--null", "--no-run-if-empty", "--verbose"],
      fills: true,
    },
  ],
]);

const SHELLS = new Set(["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"]);
const SAME_SHELL = new Set(["builtin", "command", "time"]);
const RUNS_TEXT = new Set(["alias", "parallel", "script", "su", "runuser"]);
const FIND_STARTS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

/** The commands and scripts that a command would start: of wrappers, shells, `eval`, `trap` and `find -exec`. */
export function findInner(words: readonly Word[]): Inner {
  const program = words[0]?.value ?? "";
  const name = program.slice(program.lastIndexOf("/") + 1).toLowerCase();
  const rest = words.slice(1);
  const wrapper = WRAPPERS.get(name);
  if (wrapper) return { ...unwrap(wrapper, rest), sharesFolder: SAME_SHELL.has(name) };
  if (SHELLS.has(name)) return innerOfShell(rest);
  if (name === "eval") return { ...asScript(rest), sharesFolder: true };
  if (name === "trap") return asScript(rest.slice(0, 1));
  if (name === "find") return innerOfFind(rest);
  return { commands: [], scripts: [], opaque: RUNS_TEXT.has(name) && rest.length > 0 };
}

function unwrap(wrapper: Wrapper, words: readonly Word[]): Inner {
  const options = skipOptions(wrapper, words);
  let start = options.next;
  while (wrapper.assigns && /^[A-Za-z_]\w*=/.test(words[start]?.value ?? "")) start++;
  const command = words.slice(start + (wrapper.operands ?? 0));
  const opaque = !options.understood;
  if (command.length === 0 || options.inert) return { commands: [], scripts: [], opaque };
  if (wrapper.joins) {
    const script = asScript(command);
    return { ...script, opaque: script.opaque || opaque };
  }
  return {
    commands: [command],
    scripts: [],
    opaque: opaque || (wrapper.fills === true && runsText(command)),
  };
}

type Options = { next: number; understood: boolean; inert: boolean };

/** Steps over options. One that is not known could take the next word with it, so then nothing is certain. */
function skipOptions(wrapper: Wrapper, words: readonly Word[]): Options {
  const options: Options = { next: 0, understood: true, inert: false };
  for (; options.next < words.length; options.next++) {
    const word = words[options.next];
    const text = word?.value ?? "";
    if (text === "--") return { ...options, next: options.next + 1 };
    if (text === "-" && wrapper.takesHyphen) continue;
    if (!text.startsWith("-") || text === "-") return options;
    if (word?.dynamic) options.understood = false;
    if (text.startsWith("--")) {
      if (!text.includes("=") && !wrapper.long?.includes(text)) options.understood = false;
    } else readCluster(wrapper, text, options);
  }
  return options;
}

function readCluster(wrapper: Wrapper, text: string, options: Options): void {
  for (let index = 1; index < text.length; index++) {
    const letter = text[index] ?? "";
    if (wrapper.inert?.includes(letter)) options.inert = true;
    if (wrapper.flags?.includes(letter)) continue;
    if (!wrapper.valued?.includes(letter)) options.understood = false;
    else if (index === text.length - 1) options.next++;
    return;
  }
}

/** A shell runs the text after `-c`; with neither that nor a file it runs whatever comes in. */
function innerOfShell(words: readonly Word[]): Inner {
  let takesText = false;
  let opaque = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    const text = word?.value ?? "";
    if (word && !/^[-+]./.test(text)) {
      return takesText
        ? { ...asScript([word]), opaque: opaque || word.dynamic }
        : { commands: [], scripts: [], opaque };
    }
    if (/^--(rcfile|init-file|command)/.test(text)) opaque = true;
    if (text.startsWith("--")) continue;
    if (text.includes("c") && text.startsWith("-")) takesText = true;
    if (text.includes("s")) opaque = true;
    if (/[oO]$/.test(text)) index++;
  }
  return { commands: [], scripts: [], opaque: true };
}

function innerOfFind(words: readonly Word[]): Inner {
  const commands: (readonly Word[])[] = [];
  let opaque = false;
  for (let index = 0; index < words.length; index++) {
    if (!FIND_STARTS.has(words[index]?.value ?? "")) continue;
    let end = index + 1;
    while (end < words.length && words[end]?.value !== ";" && words[end]?.value !== "+") end++;
    const command = words.slice(index + 1, end);
    if (command.length > 0) commands.push(command);
    opaque ||= end === words.length || runsText(command);
    index = end;
  }
  return { commands, scripts: [], opaque };
}

/** Whether a command would run its arguments as a script, into which others may be filled in. */
function runsText(command: readonly Word[]): boolean {
  return command.some((word) => {
    const name = word.value.slice(word.value.lastIndexOf("/") + 1).toLowerCase();
    return SHELLS.has(name) || name === "eval";
  });
}

function asScript(words: readonly Word[]): Inner {
  const script = words.map((word) => word.value).join(" ");
  return { commands: [], scripts: script === "" ? [] : [script], opaque: words.some((word) => word.dynamic) };
}
