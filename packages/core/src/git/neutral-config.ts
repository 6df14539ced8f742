import { devNull } from "node:os";

/** Settings that hold whatever a repository's own configuration says, so that it can neither name a program nor a file. */
const ALWAYS: Readonly<Record<string, string>> = {
  "core.hooksPath": devNull,
  "core.fsmonitor": "false",
  "core.untrackedCache": "false",
  "core.pager": "cat",
  "core.editor": "false",
  "core.askPass": "false",
  "core.sshCommand": "false",
  "core.gitProxy": "false",
  "core.alternateRefsCommand": "false",
  "core.quotePath": "false",
  "sequence.editor": "false",
  "credential.helper": "",
  "protocol.allow": "never",
  "gpg.program": "false",
  "gpg.openpgp.program": "false",
  "gpg.x509.program": "false",
  "gpg.ssh.program": "false",
  "gpg.ssh.defaultKeyCommand": "false",
  "commit.gpgSign": "false",
  "tag.gpgSign": "false",
  "log.showSignature": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "submodule.recurse": "false",
  "status.submoduleSummary": "false",
  "grep.fallbackToNoIndex": "false",
  "diff.external": "false",
  "diff.submodule": "short",
  "diff.ignoreSubmodules": "dirty",
  "diff.orderFile": devNull,
  "diff.noprefix": "false",
  "diff.mnemonicPrefix": "false",
  "diff.relative": "false",
  "blame.ignoreRevsFile": "",
  "mailmap.file": devNull,
  "format.pretty": "medium",
  "color.ui": "false",
  "column.ui": "never",
  "i18n.commitEncoding": "UTF-8",
  "i18n.logOutputEncoding": "UTF-8",
};

/** What a named section of a repository's configuration may run, and what is put in its place. */
const BY_NAME: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // A required filter that does nothing would be a fault, so none is required.
  filter: { clean: "", smudge: "", process: "", required: "false" },
  // Reached only if `--no-ext-diff` and `--no-textconv` were forgotten: the one then fails, the other changes nothing.
  diff: { command: "false", textconv: "cat" },
  // Not empty: an empty driver would take our side and drop the other without a word.
  merge: { driver: "false" },
  credential: { helper: "" },
  protocol: { allow: "never" },
  remote: { uploadpack: "false", receivepack: "false", vcs: "" },
  trailer: { command: "false", cmd: "false" },
};

/** More named sections than any honest repository has. */
const MAX_NAMED = 500;

/** The settings that take the place of a repository's own; `names` are the keys of its configuration. */
export function neutralConfig(names: readonly string[]): ReadonlyMap<string, string> {
  const config = new Map(Object.entries(ALWAYS));
  for (const { section, name } of namedSections(names)) {
    for (const [key, value] of Object.entries(BY_NAME[section] ?? {}))
      config.set(`${section}.${name}.${key}`, value);
  }
  return config;
}

/** The names of the filters that a repository's configuration defines. */
export function filtersIn(names: readonly string[]): string[] {
  return namedSections(names)
    .filter(({ section }) => section === "filter")
    .map(({ name }) => name);
}

/** Settings as git takes them from its environment, where a name may hold any character, `=` included. */
export function configEnv(config: ReadonlyMap<string, string>): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(config.size) };
  for (const [index, [key, value]] of [...config].entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

function namedSections(names: readonly string[]): { section: string; name: string }[] {
  const found = new Map<string, { section: string; name: string }>();
  for (const key of names) {
    const first = key.indexOf(".");
    const last = key.lastIndexOf(".");
    const section = key.slice(0, first);
    if (first < 0 || first === last || !Object.hasOwn(BY_NAME, section)) continue;
    const name = key.slice(first + 1, last);
    found.set(`${section}.${name}`, { section, name });
    if (found.size > MAX_NAMED)
      throw new RangeError(`its configuration has more than ${MAX_NAMED} named sections`);
  }
  return [...found.values()];
}
