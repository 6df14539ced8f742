import type { Word } from "@retinue/core/rights/patterns/shell-word";
import { makePlainWord } from "./command-words.ts";

/** What a call of a package manager fetches and starts. */
type PackageCall = {
  /** Whether it installs packages, or fetches them only to run one. */
  readonly does: "installs" | "runs";
  /** Where they come from: addresses and repositories in the command, not the registry it is set up with. */
  readonly sources: readonly string[];
  /** Files and folders that it installs. */
  readonly files: readonly Word[];
  /** The program that it starts, and what that is given. */
  readonly starts?: { readonly program: Word; readonly words: readonly Word[] };
  /** Text that it hands to a shell. */
  readonly script?: Word;
};

/** How a package manager is called. */
type Manager = {
  /** Subcommands whose operands are packages. */
  readonly installs?: RegExp;
  /** Subcommands that start the first operand, which may be a package of its own. */
  readonly runs?: RegExp;
  /** It has no subcommands and does this at once. */
  readonly always?: "installs" | "runs";
  /** Without a subcommand that it knows, it starts a program of the project. */
  readonly startsOthers?: true;
  /** `owner/name` is a repository at GitHub. */
  readonly shortens?: true;
};

const NPM: Manager = {
  installs: /^(?:i|in|ins|inst|install|isntall|add|it|install-test|up|update|upgrade)$/,
  runs: /^(?:exec|x|dlx|create|init)$/,
  shortens: true,
};
const SYSTEM: Manager = { installs: /^(?:install|localinstall|reinstall|add|in)$/ };
const PYTHON: Manager = { ...SYSTEM, runs: /^run$/ };
const MANAGERS: ReadonlyMap<string, Manager> = new Map<string, Manager>([
  ["apk", SYSTEM],
  ["apt", SYSTEM],
  ["apt-get", SYSTEM],
  ["bundle", { runs: /^exec$/ }],
  ["brew", { installs: /^(?:install|reinstall|tap)$/ }],
  ["bun", { ...NPM, installs: /^(?:i|install|a|add|update)$/, runs: /^(?:x|create)$/ }],
  ["bunx", { always: "runs", shortens: true }],
  ["cargo", { installs: /^(?:install|add)$/ }],
  ["composer", { installs: /^(?:require|create-project)$/ }],
  ["conda", SYSTEM],
  ["corepack", { always: "runs" }],
  ["deno", { installs: /^(?:add|cache)$/, runs: /^(?:run|install|i|serve|compile)$/ }],
  ["dnf", SYSTEM],
  ["dpkg", { always: "installs" }],
  ["easy_install", { always: "installs" }],
  ["gem", { installs: /^(?:i|install|specific_install)$/ }],
  ["mamba", SYSTEM],
  ["nix", { runs: /^(?:run|shell|develop)$/ }],
  ["npm", NPM],
  ["npx", { always: "runs", shortens: true }],
  ["pdm", PYTHON],
  ["pip", { installs: /^(?:install|download|wheel)$/ }],
  ["pipx", { installs: /^(?:install|inject)$/, runs: /^run$/ }],
  ["pnpm", { ...NPM, startsOthers: true }],
  ["pnpx", { always: "runs", shortens: true }],
  ["pipenv", PYTHON],
  ["poetry", PYTHON],
  ["rpm", { always: "installs" }],
  ["uv", { installs: /^(?:add|install)$/, runs: /^run$/ }],
  ["uvx", { always: "runs" }],
  ["yarn", { ...NPM, startsOthers: true }],
  ["yum", SYSTEM],
  ["zypper", SYSTEM],
]);

/** Options that say where packages come from. */
const FROM =
  /^(?:--registry|-i|--index-url|--extra-index-url|--index|--default-index|-f|--find-links|-r|--requirement|-c|--constraint|--source|-s|--git|--repository(?:-url)?|-e|--editable|--channel|-p|--package|--from|--with|--spec)$/;
/** Options that take the next word with them, and nothing of a package. */
const VALUED =
  /^(?:-w|--workspace|-C|--dir|--cwd|--prefix|--filter|-F|--tag|--loglevel|--cache|-t|--target|--root|--python|--platform|--path|--version|--features|--branch|--rev|--group|-n|--name)$/;
/** What is before the subcommand proper. */
const LEADS = /^(?:pip|tool|global|workspace|self)$/;

const REMOTE =
  /^(?:@?[\w.-]+(?:\/[\w.-]+)?(?:\[[^\]]*\])?\s*@\s*)?(?:https?:|ftp:|git:|ssh:|(?:git|hg|svn|bzr)\+|github:|gitlab:|bitbucket:|gist:)/i;
const SECURE_COPY = /^[\w.-]+@[\w-]+(?:\.[\w-]+)+:/;
const SHORTENED = /^(?:[\w.-]+@)?\w[\w-]*\/[\w.-]+(?:#[\w./-]+)?$/;
const ON_DISK = /^(?:\.{0,2}\/|~\/|file:)|\.(?:apk|deb|gem|rpm|tar\.gz|tgz|whl|zip)$/;
/** A registry on this machine. */
const LOCAL = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/i;

/** Reads a call of a package manager; null if it is none, or does neither install nor start anything. */
export function readPackageCall(name: string, rest: readonly Word[]): PackageCall | null {
  const manager = MANAGERS.get(name.replace(/^(pip|gem)[\d.]+$/, "$1"));
  if (!manager) return null;
  const at = manager.always ? -1 : findSubcommand(rest);
  const subcommand = rest[at]?.value ?? "";
  const does = manager.always ?? (manager.runs?.test(subcommand) ? "runs" : "installs");
  if (does === "installs" && !manager.always && !manager.installs?.test(subcommand)) {
    const program = manager.startsOthers && !/^(?:rm|unlink)$/.test(subcommand) && rest[at];
    return program
      ? { does: "runs", sources: [], files: [], ...describeStart(program, rest.slice(at + 1)) }
      : null;
  }
  const { packages, operands, script } = readWords(rest.slice(at + 1), does);
  const named = does === "runs" ? [...packages, ...operands.slice(0, 1)] : [...packages, ...operands];
  const sources = named.filter((word) => isRemote(word, manager)).map((word) => word.value);
  const [program, ...words] = does === "runs" ? operands : [];
  return {
    does,
    sources,
    files: does === "installs" ? operands.filter((word) => ON_DISK.test(word.value)) : [],
    ...(program && describeStart(program, words)),
    ...(script && { script }),
  };
}

function describeStart(program: Word, words: readonly Word[]): Pick<PackageCall, "starts"> {
  return { starts: { program: { ...program, value: program.value.replace(/(?<=.)@.*$/, "") }, words } };
}

function findSubcommand(rest: readonly Word[]): number {
  let at = 0;
  while (at < rest.length) {
    const value = rest[at]?.value ?? "";
    if (VALUED.test(value)) at += 2;
    else if (value.startsWith("-") || LEADS.test(value)) at++;
    else break;
  }
  return at;
}

/** The words of a call: packages named by options, operands, and a script. Of what is started, all words are its own. */
function readWords(words: readonly Word[], does: "installs" | "runs") {
  const packages: Word[] = [];
  let script: Word | undefined;
  let index = 0;
  const operands: Word[] = [];
  for (; index < words.length; index++) {
    const word = words[index] ?? makePlainWord("");
    const [, option = word.value, value] = /^(--?[\w-]+)=([\s\S]*)$/.exec(word.value) ?? [];
    const given = value === undefined ? words[index + 1] : { ...word, value };
    if (!/^-./.test(word.value)) operands.push(word);
    else if (does === "runs" && /^(?:-c|--call)$/.test(option)) script = given;
    else if (FROM.test(option) && given) packages.push(given);
    const takesNext = /^-./.test(word.value) && value === undefined && isValued(option, given, does);
    if (takesNext) index++;
    if (does === "runs" && operands.length > 0) break;
  }
  return { packages, script, operands: [...operands, ...words.slice(index + 1)] };
}

/** Some letters take a value with one manager and not with another: then only an address is one. */
function isValued(option: string, given: Word | undefined, does: "installs" | "runs"): boolean {
  if (VALUED.test(option)) return true;
  if (does === "runs" && /^(?:-c|--call|-p|--package|--from|--with|--spec)$/.test(option)) return true;
  return FROM.test(option) && (option.startsWith("--") || REMOTE.test(given?.value ?? ""));
}

function isRemote({ value, dynamic }: Word, { shortens }: Manager): boolean {
  if (dynamic && !REMOTE.test(value)) return false;
  if (LOCAL.test(value)) return false;
  return REMOTE.test(value) || SECURE_COPY.test(value) || (shortens === true && SHORTENED.test(value));
}
