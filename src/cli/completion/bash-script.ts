import type { CommandEntry } from "./command-table.ts";
import { argumentAnswers, caseOf, flagAnswers, quoted } from "./shell-cases.ts";

/** Completion for bash 3.2 and later. */
export function bashScript(table: readonly CommandEntry[]): string {
  const reply = (words: string) => `REPLY=${quoted(words)}`;
  const commands = table
    .filter(({ commands: inner }) => inner.length > 0)
    .map(({ path, commands: inner }): [string, string] => [
      quoted(path),
      reply(inner.map(({ name }) => name).join(" ")),
    ]);
  const flags = table.map(({ path, flags: own }): [string, string] => [
    quoted(path),
    reply(own.flatMap(({ spellings }) => spellings).join(" ")),
  ]);
  return `# retinue: completion for bash. Load it with:  source <(retinue completion bash)
__retinue_commands() {
${caseOf(commands, "REPLY=")}
}
__retinue_flags() {
${caseOf(flags, "REPLY=")}
}
__retinue_flag_value() {
${caseOf(flagAnswers(table, reply), "return 1")}
}
__retinue_argument() {
${caseOf(argumentAnswers(table, reply), "REPLY=")}
}
${WALK}`;
}

/** Walks over the words before the cursor, and completes what can stand there. */
const WALK = `__retinue_reply() {
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
