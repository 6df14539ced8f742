import type { CommandEntry } from "./command-table.ts";
import { argumentAnswers, caseOf, flagAnswers, quoted } from "./shell-cases.ts";

/** Completion for zsh, with descriptions. */
export function zshScript(table: readonly CommandEntry[]): string {
  const reply = (words: string) => `REPLY=${quoted(words)}`;
  const list = (entries: readonly { name: string; about: string }[]) =>
    `reply=(${entries.map(({ name, about }) => quoted(`${name.replaceAll(":", "\\:")}:${about}`)).join(" ")})`;
  const commands = table
    .filter(({ commands: inner }) => inner.length > 0)
    .map(({ path, commands: inner }): [string, string] => [quoted(path), list(inner)]);
  const flags = table.map(({ path, flags: own }): [string, string] => [
    quoted(path),
    list(own.flatMap(({ spellings, about }) => spellings.map((name) => ({ name, about })))),
  ]);
  return `#compdef retinue
# retinue: completion for zsh. Load it with:  source <(retinue completion zsh)
__retinue_commands() {
${caseOf(commands, "reply=()")}
}
__retinue_flags() {
${caseOf(flags, "reply=()")}
}
__retinue_flag_value() {
${caseOf(flagAnswers(table, reply), "return 1")}
}
__retinue_argument() {
${caseOf(argumentAnswers(table, reply), "REPLY=''")}
}
${WALK}`;
}

const WALK = `__retinue_reply() {
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
