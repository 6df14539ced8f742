import { Argument } from "commander";
import type { CliCommand } from "../cli-command.ts";
import type { Cli } from "../terminal.ts";

/** Declares `retinue completion`. */
export default function registerCompletion(command: CliCommand): void {
  command
    .description("print a script that makes your shell complete commands, flags, agents and sessions")
    .addArgument(new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish"]))
    .examples(
      "source <(retinue completion bash)",
      "retinue completion fish > ~/.config/fish/completions/retinue.fish",
    )
    .performs((shell: keyof typeof SCRIPTS, cli: Cli) => cli.print(SCRIPTS[shell]));
}

/** What each shell runs. The program itself says what can be typed at the cursor: see `completeWords`. */
const SCRIPTS = {
  bash: `# retinue: completion for bash. Load it with:  source <(retinue completion bash)
_retinue() {
  local IFS=$'\\n' line cur=\${COMP_WORDS[COMP_CWORD]}
  [[ $cur == '=' ]] && cur=''
  COMPREPLY=()
  while read -r line; do
    case $line in
      @files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
      @folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
      *) line=\${line%%$'\\t'*}; [[ $line == "$cur"* ]] && COMPREPLY+=("$line") ;;
    esac
  done < <(retinue __complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$cur" 2>/dev/null)
  return 0
}
complete -F _retinue retinue`,
  zsh: `#compdef retinue
# retinue: completion for zsh. Load it with:  source <(retinue completion zsh)
_retinue() {
  local -a lines
  lines=("\${(@f)$(retinue __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  case $lines[1] in
    '') ;;
    @files) _files ;;
    @folders) _files -/ ;;
    *)
      lines=("\${(@)lines//:/\\\\:}")
      lines=("\${(@)lines/$'\\t'/:}")
      if [[ $lines[1] == -* ]]; then _describe -o retinue lines
      else _describe retinue lines; fi
      ;;
  esac
}
if [[ $funcstack[1] == _retinue ]]; then _retinue "$@"; else compdef _retinue retinue; fi`,
  fish: `# retinue: completion for fish. Load it with:  retinue completion fish | source
function __retinue_candidates
    set -l typed (commandline -ct)
    set -l lines (retinue __complete (commandline -opc)[2..-1] "$typed" 2>/dev/null)
    set -l flag (string match -r -- '^--[^=]*=' $typed)
    switch "$lines[1]"
        case ''
        case @files
            __fish_complete_path $typed
        case @folders
            __fish_complete_directories $typed
        case '*'
            printf '%s\\n' "$flag"$lines
    end
end
complete -c retinue -f -a '(__retinue_candidates)'`,
} as const;
