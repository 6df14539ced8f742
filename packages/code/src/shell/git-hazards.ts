import type { Word } from "@retinue/core/rights/patterns/shell-word";
import { findOwn } from "@retinue/core/schema/find-own";
import { hasOption, makePlainWord, readOperands, takeOptions } from "./command-words.ts";

/** What of a call of git a person should know of before it runs. */
type GitHazards = {
  readonly subcommand: string | undefined;
  /** What follows the subcommand. */
  readonly words: readonly Word[];
  /** Folders that it works in instead of the current one. */
  readonly folders: readonly Word[];
  /** Files and folders that it deletes, tracked or not. */
  readonly deletes: readonly Word[];
  /** Files and folders in which it throws changes away that are not committed. */
  readonly discards: readonly Word[];
  /** It throws away what only git keeps, such as a stash. */
  readonly drops: boolean;
  /** The folder that it fetches a repository into; null if that is not known. */
  readonly clones?: string | null;
};

/** Options before the subcommand that take the next word with them. */
const VALUED = /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/;
/** The whole repository, wherever the command runs. */
const EVERYTHING = makePlainWord(":/");

/** Reads a call of git by its subcommand; most of them leave alone what is not committed. */
export function readGitHazards(rest: readonly Word[], { isFilledIn }: { isFilledIn: boolean }): GitHazards {
  const folders: Word[] = [];
  let index = 0;
  for (; index < rest.length && rest[index]?.value.startsWith("-"); index++) {
    const value = rest[index]?.value ?? "";
    const next = rest[index + 1];
    if (value === "-C" && next) folders.push(next);
    if (VALUED.test(value)) index++;
  }
  const subcommand = rest[index]?.value;
  const words = rest.slice(index + 1);
  const found = findOwn(READERS, subcommand ?? "")?.(words) ?? {};
  const discards = found.discards?.length === 0 && isFilledIn ? [EVERYTHING] : (found.discards ?? []);
  return { subcommand, words, folders, deletes: [], drops: false, ...found, discards };
}

type Found = Partial<Pick<GitHazards, "deletes" | "discards" | "drops" | "clones">>;

const READERS: Readonly<Record<string, (words: readonly Word[]) => Found>> = {
  clean: (words) =>
    hasOption(words, /^(?:-[dfiqxX]*n|--dry-run$)/)
      ? {}
      : { deletes: orAll(readOperands(words, /^(?:-e|--exclude)$/)) },
  checkout: (words) => {
    if (hasOption(words, /^-[dlmqt]*f/) || hasLong(words, "--force") || isFromList(words))
      return { discards: [EVERYTHING] };
    const operands = readOperands(words, /^(?:-b|-B|--orphan|--conflict)$/);
    // A branch and a file look alike. What is the name of no changed file loses nothing.
    const isBranch = operands.length === 1 && !words.some(({ value }) => value === "--");
    return { discards: isBranch && operands[0]?.dynamic ? [] : operands };
  },
  switch: (words) =>
    hasOption(words, /^-[dmqt]*f/) || hasLong(words, "--force", "--discard-changes")
      ? { discards: [EVERYTHING] }
      : {},
  restore: (words) => {
    if (
      hasOption(words, /^(?:-[qpW]*S|--staged$)/) &&
      !hasOption(words, /^-[qpS]*W/) &&
      !hasLong(words, "--worktree")
    )
      return {};
    return { discards: isFromList(words) ? [EVERYTHING] : readOperands(words, /^(?:-s|--source)$/) };
  },
  reset: (words) => (hasLong(words, "--hard", "--merge") ? { discards: [EVERYTHING] } : {}),
  "checkout-index": (words) => {
    if (!hasOption(words, /^-[anqu]*f/) && !hasLong(words, "--force")) return {};
    const isAll = hasOption(words, /^-[fnqu]*a/) || hasLong(words, "--all", "--stdin");
    return { discards: isAll ? [EVERYTHING] : readOperands(words) };
  },
  "read-tree": (words) => (hasLong(words, "--reset") ? { discards: [EVERYTHING] } : {}),
  // Without force git refuses to remove what was changed.
  rm: (words) =>
    (hasOption(words, /^-[nqr]*f/) || hasLong(words, "--force")) &&
    !hasOption(words, /^(?:-[fqr]*n|--dry-run$|--cached$)/)
      ? { discards: readOperands(words) }
      : {},
  stash: ([action]) => ({ drops: /^(?:drop|clear)$/.test(action?.value ?? "") }),
  reflog: ([action]) => ({ drops: /^(?:delete|expire)$/.test(action?.value ?? "") }),
  "update-ref": (words) => ({
    drops: hasOption(words, /^-d$/) && words.some(({ value }) => value === "refs/stash"),
  }),
  worktree: ([action, ...words]) => (action?.value === "remove" ? { deletes: readOperands(words) } : {}),
  submodule: ([action, ...words]) =>
    action?.value === "deinit" && (hasOption(words, /^-f/) || hasLong(words, "--force"))
      ? { deletes: orAll(readOperands(words)) }
      : {},
  clone: (words) => {
    const [from, to] = readOperands(
      words,
      /^(?:-b|--branch|-o|--origin|-u|--upload-pack|-c|--config|-j|--jobs|--depth|--reference|--template|--filter)$/,
    );
    const named = to ?? from;
    if (!named || named.dynamic) return { clones: null };
    const repository = named.value.replace(/\/+$|\.git$/g, "");
    return { clones: to ? to.value : repository.replace(/^.*[/:]/, "") };
  },
};

/** Whether a call has one of these options, which git takes in any shorter form that is clear. */
function hasLong(words: readonly Word[], ...names: readonly string[]): boolean {
  return takeOptions(words).some(({ value }) => {
    const [option = ""] = value.split("=");
    return option.length > 2 && names.some((name) => name.startsWith(option));
  });
}

function orAll(words: readonly Word[]): readonly Word[] {
  return words.length > 0 ? words : [makePlainWord(".")];
}

function isFromList(words: readonly Word[]): boolean {
  return hasLong(words, "--pathspec-from-file");
}
