import type { Word } from "@retinue/core/rights/patterns/shell-word";
import { findOwn } from "@retinue/core/schema/find-own";
import { cutFolder, hasOption, makePlainWord, readOperands, takeOptions } from "./command-words.ts";
import { lookAtMove } from "./file-hazards.ts";
import type { Hazards } from "./hazards.ts";

/** What a subcommand may lose; most of them leave alone what is not committed. */
type Subcommand = (words: readonly Word[], draft: Hazards) => void;

/** Options before the subcommand that take the next word with them. */
const VALUED = /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/;
/** The whole repository, wherever the command runs. */
const EVERYTHING = [makePlainWord(":/")];

/** Reads a call of git, and gives its subcommand and what follows it. */
export function readGitCall(rest: readonly Word[], draft: Hazards): { name: string; words: readonly Word[] } {
  let index = 0;
  for (; index < rest.length && rest[index]?.value.startsWith("-"); index++) {
    const value = rest[index]?.value ?? "";
    if (value === "-C") draft.noteFolder(rest[index + 1]);
    if (VALUED.test(value)) index++;
  }
  const name = rest[index]?.value ?? "";
  const words = rest.slice(index + 1);
  findOwn(SUBCOMMANDS, name)?.(words, draft);
  return { name, words };
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  clean: (words, draft) => {
    if (!hasOption(words, /^(?:-[dfiqxX]*n|--dry-run$)/))
      draft.addDeleted("git clean", orAll(readOperands(words, /^(?:-e|--exclude)$/)));
  },
  checkout: (words, draft) => {
    if (hasOption(words, /^-[dlmqt]*f/) || hasLong(words, "--force") || isFromList(words))
      return draft.noteDiscarded(EVERYTHING);
    const operands = readOperands(words, /^(?:-b|-B|--orphan|--conflict)$/);
    // A branch and a file look alike. What is the name of no changed file loses nothing.
    const isBranch = operands.length === 1 && !words.some(({ value }) => value === "--");
    draft.noteDiscarded(isBranch && operands[0]?.dynamic ? [] : operands);
  },
  switch: (words, draft) => {
    if (hasOption(words, /^-[dmqt]*f/) || hasLong(words, "--force", "--discard-changes"))
      draft.noteDiscarded(EVERYTHING);
  },
  restore: (words, draft) => {
    const isStaged = hasOption(words, /^(?:-[qpW]*S|--staged$)/);
    if (isStaged && !hasOption(words, /^-[qpS]*W/) && !hasLong(words, "--worktree")) return;
    draft.noteDiscarded(isFromList(words) ? EVERYTHING : readOperands(words, /^(?:-s|--source)$/));
  },
  reset: (words, draft) => {
    if (hasLong(words, "--hard", "--merge")) draft.noteDiscarded(EVERYTHING);
  },
  "checkout-index": (words, draft) => {
    if (!hasOption(words, /^-[anqu]*f/) && !hasLong(words, "--force")) return;
    const isAll = hasOption(words, /^-[fnqu]*a/) || hasLong(words, "--all", "--stdin");
    draft.noteDiscarded(isAll ? EVERYTHING : readOperands(words));
  },
  "read-tree": (words, draft) => {
    if (hasLong(words, "--reset")) draft.noteDiscarded(EVERYTHING);
  },
  rm: (words, draft) => {
    // Without force git refuses to remove what was changed.
    const isForced = hasOption(words, /^-[nqr]*f/) || hasLong(words, "--force");
    if (isForced && !hasOption(words, /^(?:-[fqr]*n|--dry-run$|--cached$)/))
      draft.noteDiscarded(readOperands(words));
  },
  mv: (words, draft) => lookAtMove(words, readOperands(words), draft),
  stash: ([action], draft) => {
    if (/^(?:drop|clear)$/.test(action?.value ?? "")) draft.drops.add(`git stash ${action?.value}`);
  },
  reflog: ([action], draft) => {
    if (/^(?:delete|expire)$/.test(action?.value ?? "")) draft.drops.add(`git reflog ${action?.value}`);
  },
  "update-ref": (words, draft) => {
    if (hasOption(words, /^-d$/) && words.some(({ value }) => value === "refs/stash"))
      draft.drops.add(`git update-ref ${words[0]?.value}`);
  },
  worktree: ([action, ...words], draft) => {
    const removed = action?.value === "remove" ? readOperands(words) : [];
    if (removed.length > 0) draft.addDeleted("git worktree", removed);
  },
  submodule: ([action, ...words], draft) => {
    if (action?.value === "deinit" && (hasOption(words, /^-f/) || hasLong(words, "--force")))
      draft.addDeleted("git submodule", orAll(readOperands(words)));
  },
  clone: (words, draft) => {
    draft.downloads.add("git clone");
    const [from, to] = readOperands(
      words,
      /^(?:-b|--branch|-o|--origin|-u|--upload-pack|-c|--config|-j|--jobs|--depth|--reference|--template|--filter)$/,
    );
    const named = to ?? from;
    if (!named || named.dynamic) draft.saved.add(null);
    else
      draft.cloned.add(
        cutFolder(to ? to.value : named.value.replace(/\/+$|\.git$/g, "").replace(/^.*[/:]/, "")),
      );
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
