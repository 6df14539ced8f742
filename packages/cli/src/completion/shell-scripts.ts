import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import {
  type CommandEntry,
  type CompletionValues,
  type FlagEntry,
  listCommandEntries,
} from "./command-table.ts";

/** Shells that can complete. */
export type Shell = "bash" | "zsh" | "fish";

const SCRIPTS = { bash: writeBashScript, zsh: writeZshScript, fish: writeFishScript } as const;

/** `retinue completion`: prints the script for a shell, made from the commands there are. */
export function printCompletion(shell: Shell, program: Command, terminal: Terminal): void {
  terminal.print(SCRIPTS[shell](listCommandEntries(program)));
}

/** Completion for bash 3.2 and later. */
function writeBashScript(table: readonly CommandEntry[]): string {
  const reply = (words: string) => `REPLY=${quoteForShell(words)}`;
  const commands = table
    .filter(({ commands: inner }) => inner.length > 0)
    .map(({ path, commands: inner }): [string, string] => [
      quoteForShell(path),
      reply(inner.map(({ name }) => name).join(" ")),
    ]);
  const flags = table.map(({ path, flags: own }): [string, string] => [
    quoteForShell(path),
    reply(own.flatMap(({ spellings }) => spellings).join(" ")),
  ]);
  return `# retinue: completion for bash. Load it with:  source <(retinue completion bash)
__retinue_commands() {
${writeCase(commands, "REPLY=")}
}
__retinue_flags() {
${writeCase(flags, "REPLY=")}
}
__retinue_flag_value() {
${writeCase(flagAnswers(table, reply), "return 1")}
}
__retinue_argument() {
${writeCase(argumentAnswers(table, reply), "REPLY=")}
}
${BASH_WALK}`;
}

/** Walks over the words before the cursor, and completes what can stand there. */
const BASH_WALK = `__retinue_reply() {
  local IFS=$'\\n' line
  case $1 in
    @files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
    @folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
    @*)
      while read -r line; do
        line=\${line%%$'\\t'*}
        [[ $line == "$2"* ]] && COMPREPLY+=("$line")
      done < <(retinue __complete "\${1#@}" "\${COMP_WORDS[@]:1}" 2>/dev/null)
      ;;
    *) IFS=$' \\n'; COMPREPLY=($(compgen -W "$1" -- "$2")) ;;
  esac
}
_retinue() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at='' flag='' only='' count=0 i word REPLY=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then continue
    elif [[ -n $flag ]]; then flag=''
    elif [[ -n $only ]]; then count=$((count + 1))
    elif [[ $word == '--' ]]; then only=yes
    elif [[ $word == -* ]]; then __retinue_flag_value "$at|$word" && flag=$word
    else
      __retinue_commands "$at"
      if [[ $count == 0 && " $REPLY " == *" $word "* ]]; then at=\${at:+$at }$word
      else count=$((count + 1)); fi
    fi
  done
  [[ $cur == '=' ]] && cur=''
  REPLY=''
  if [[ -n $flag ]]; then
    __retinue_flag_value "$at|$flag"
    [[ -n $REPLY ]] && __retinue_reply "$REPLY" "$cur"
  elif [[ $cur == -* && -z $only ]]; then
    __retinue_flags "$at"
    __retinue_reply "$REPLY" "$cur"
  else
    if [[ $count == 0 ]]; then __retinue_commands "$at"; fi
    if [[ -z $REPLY ]]; then __retinue_argument "$at|$count"; fi
    [[ -n $REPLY ]] && __retinue_reply "$REPLY" "$cur"
  fi
  return 0
}
complete -F _retinue retinue`;

/** Completion for zsh, with descriptions. */
function writeZshScript(table: readonly CommandEntry[]): string {
  const reply = (words: string) => `REPLY=${quoteForShell(words)}`;
  const list = (entries: readonly { name: string; about: string }[]) =>
    `reply=(${entries.map(({ name, about }) => quoteForShell(`${name.replaceAll(":", "\\:")}:${about}`)).join(" ")})`;
  const commands = table
    .filter(({ commands: inner }) => inner.length > 0)
    .map(({ path, commands: inner }): [string, string] => [quoteForShell(path), list(inner)]);
  const flags = table.map(({ path, flags: own }): [string, string] => [
    quoteForShell(path),
    list(own.flatMap(({ spellings, about }) => spellings.map((name) => ({ name, about })))),
  ]);
  return `#compdef retinue
# retinue: completion for zsh. Load it with:  source <(retinue completion zsh)
__retinue_commands() {
${writeCase(commands, "reply=()")}
}
__retinue_flags() {
${writeCase(flags, "reply=()")}
}
__retinue_flag_value() {
${writeCase(flagAnswers(table, reply), "return 1")}
}
__retinue_argument() {
${writeCase(argumentAnswers(table, reply), "REPLY=''")}
}
${ZSH_WALK}`;
}

const ZSH_WALK = `__retinue_reply() {
  local -a lines
  case $1 in
    @files) _files ;;
    @folders) _files -/ ;;
    @*)
      lines=("\${(@f)$(retinue __complete "\${1#@}" "\${(@)words[2,-1]}" 2>/dev/null)}")
      lines=("\${(@)lines/$'\\t'/:}")
      [[ -n $lines[1] ]] && _describe -t names "\${1#@}" lines
      ;;
    *) lines=(\${(s: :)1}); compadd -a lines ;;
  esac
}
_retinue() {
  local cur=$words[CURRENT] at='' flag='' only='' word REPLY=''
  local -a reply
  integer i count=0
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $flag ]]; then flag=''
    elif [[ -n $only ]]; then count+=1
    elif [[ $word == '--' ]]; then only=yes
    elif [[ $word == -*=* ]]; then continue
    elif [[ $word == -* ]]; then __retinue_flag_value "$at|$word" && flag=$word
    else
      __retinue_commands "$at"
      if (( count == 0 )) && [[ -n \${(M)reply:#$word:*} ]]; then at="\${at:+$at }$word"
      else count+=1; fi
    fi
  done
  if [[ -z $flag && -z $only && $cur == -*=* ]]; then
    flag=\${cur%%=*}
    compset -P '*='
  fi
  REPLY=''
  reply=()
  if [[ -n $flag ]]; then
    __retinue_flag_value "$at|$flag"
    [[ -n $REPLY ]] && __retinue_reply "$REPLY"
  elif [[ $cur == -* && -z $only ]]; then
    __retinue_flags "$at"
    _describe -o -t flags flag reply
  else
    (( count == 0 )) && __retinue_commands "$at"
    if (( $#reply )); then _describe -t commands command reply
    else
      __retinue_argument "$at|$count"
      [[ -n $REPLY ]] && __retinue_reply "$REPLY"
    fi
  fi
}
if [[ $funcstack[1] == _retinue ]]; then _retinue "$@"; else compdef _retinue retinue; fi`;

/** Text in single quotes, as bash and zsh read it. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Values as one word for the shell functions: `@sessions`, `@files`, a list of words, or nothing. */
function writeValue(values: CompletionValues): string {
  if (values.kind === "words") return values.words.join(" ");
  if (values.kind === "names") return `@${values.of}`;
  return values.kind === "anything" ? "" : `@${values.kind}`;
}

/** A `case` that answers a question about a place; those with the same answer share a line. */
function writeCase(
  answers: readonly (readonly [pattern: string, answer: string])[],
  otherwise: string,
): string {
  const byAnswer = Map.groupBy(answers, ([, answer]) => answer);
  const lines = [...byAnswer].map(
    ([answer, group]) => `    ${group.map(([pattern]) => pattern).join("|")}) ${answer} ;;`,
  );
  return ["  case $1 in", ...lines, `    *) ${otherwise} ;;`, "  esac"].join("\n");
}

/** What each flag of each command takes, as answers; a flag that takes the same everywhere has one pattern. */
function flagAnswers(table: readonly CommandEntry[], answer: (word: string) => string): [string, string][] {
  const uses = table.flatMap(({ path, flags }) =>
    flags.flatMap((flag) =>
      flag.spellings.map((spelling) => ({ path, spelling, word: writeFlagValue(flag) })),
    ),
  );
  const answers = new Map<string, string>();
  for (const { path, spelling, word } of uses) {
    if (word === undefined) continue;
    const isSame = uses.every((each) => each.spelling !== spelling || each.word === word);
    answers.set(
      isSame ? `*${quoteForShell(`|${spelling}`)}` : quoteForShell(`${path}|${spelling}`),
      answer(word),
    );
  }
  return [...answers];
}

/** What the arguments of each command are, as answers by position. */
function argumentAnswers(
  table: readonly CommandEntry[],
  answer: (word: string) => string,
): [string, string][] {
  return table.flatMap(({ path, values, isVariadic }) =>
    values.flatMap((each, index): [string, string][] => {
      const word = writeValue(each);
      const position = isVariadic && index === values.length - 1 ? "*" : String(index);
      const pattern =
        position === "*" ? `${quoteForShell(`${path}|`)}*` : quoteForShell(`${path}|${position}`);
      return word === "" ? [] : [[pattern, answer(word)]];
    }),
  );
}

function writeFlagValue({ value }: FlagEntry): string | undefined {
  return value && writeValue(value);
}

/** Completion for fish, with descriptions. */
function writeFishScript(table: readonly CommandEntry[]): string {
  const paths = table.flatMap(({ path }) => (path === "" ? [] : [path]));
  const valued = table.flatMap(({ path, flags }) =>
    flags.flatMap(({ spellings, value }) => (value ? spellings.map((each) => `${path}|${each}`) : [])),
  );
  return [
    "# retinue: completion for fish. Load it with:  retinue completion fish | source",
    `set -g __retinue_paths ${paths.map(quoteForFish).join(" ")}`,
    `set -g __retinue_valued ${valued.map(quoteForFish).join(" ")}`,
    FISH_WALK,
    "complete -c retinue -f",
    ...table.flatMap(writeFishEntry),
  ].join("\n");
}

const FISH_WALK = `function __retinue_at -a path position -d 'whether the cursor is behind these words'
    set -l where ''
    set -l count 0
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            contains -- "$where|$word" $__retinue_valued; and set skip 1
        else if test $count = 0; and contains -- (string trim -- "$where $word") $__retinue_paths
            set where (string trim -- "$where $word")
        else
            set count (math $count + 1)
        end
    end
    test "$where" = "$path"; or return 1
    test -z "$position"; or test "$position" = '*'; or test "$position" = $count
end
function __retinue_names -d 'names that only the record or the project knows'
    retinue __complete $argv[1] (commandline -opc)[2..-1] 2>/dev/null
end`;

function writeFishEntry(entry: CommandEntry): string[] {
  const { path, commands, flags, values, isVariadic } = entry;
  const at = (position: string) =>
    `-n ${quoteForFish(`__retinue_at ${quoteForFish(path)}${position && ` ${quoteForFish(position)}`}`)}`;
  return [
    ...commands.map(
      ({ name, about }) =>
        `complete -c retinue ${at("0")} -a ${quoteForFish(name)} -d ${quoteForFish(about)}`,
    ),
    ...flags.map(
      (flag) =>
        `complete -c retinue ${at("")} ${writeSpellings(flag)} -d ${quoteForFish(flag.about)}${takes(flag.value)}`,
    ),
    ...values.flatMap((each, index) => {
      const position = isVariadic && index === values.length - 1 ? "*" : String(index);
      return each.kind === "anything" ? [] : [`complete -c retinue ${at(position)}${choices(each)}`];
    }),
  ];
}

function writeSpellings({ spellings }: FlagEntry): string {
  return spellings
    .map((each) => (each.startsWith("--") ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`))
    .join(" ");
}

function takes(value: CompletionValues | undefined): string {
  if (!value) return "";
  return ` -r${value.kind === "anything" ? " -f" : choices(value)}`;
}

function choices(values: CompletionValues): string {
  if (values.kind === "words") return ` -f -a ${quoteForFish(values.words.join(" "))}`;
  if (values.kind === "names") return ` -f -a '(__retinue_names ${values.of})'`;
  if (values.kind === "folders") return " -f -a '(__fish_complete_directories (commandline -ct))'";
  return values.kind === "files" ? " -F" : "";
}

/** Text in single quotes, as fish reads it. */
function quoteForFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
