import type { CommandEntry, FlagEntry, Values } from "./command-table.ts";

/** Completion for fish, with descriptions. */
export function fishScript(table: readonly CommandEntry[]): string {
  const paths = table.flatMap(({ path }) => (path === "" ? [] : [path]));
  const valued = table.flatMap(({ path, flags }) =>
    flags.flatMap(({ spellings, value }) => (value ? spellings.map((each) => `${path}|${each}`) : [])),
  );
  return [
    "# retinue: completion for fish. Load it with:  retinue completion fish | source",
    `set -g __retinue_paths ${paths.map(quote).join(" ")}`,
    `set -g __retinue_valued ${valued.map(quote).join(" ")}`,
    WALK,
    "complete -c retinue -f",
    ...table.flatMap(linesOf),
  ].join("\n");
}

const WALK = `function __retinue_at -a path position -d 'whether the cursor is behind these words'
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

function linesOf(entry: CommandEntry): string[] {
  const { path, commands, flags, values, isVariadic } = entry;
  const at = (position: string) =>
    `-n ${quote(`__retinue_at ${quote(path)}${position && ` ${quote(position)}`}`)}`;
  return [
    ...commands.map(
      ({ name, about }) => `complete -c retinue ${at("0")} -a ${quote(name)} -d ${quote(about)}`,
    ),
    ...flags.map(
      (flag) =>
        `complete -c retinue ${at("")} ${spellingsOf(flag)} -d ${quote(flag.about)}${takes(flag.value)}`,
    ),
    ...values.flatMap((each, index) => {
      const position = isVariadic && index === values.length - 1 ? "*" : String(index);
      return each.kind === "anything" ? [] : [`complete -c retinue ${at(position)}${choices(each)}`];
    }),
  ];
}

function spellingsOf({ spellings }: FlagEntry): string {
  return spellings
    .map((each) => (each.startsWith("--") ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`))
    .join(" ");
}

function takes(value: Values | undefined): string {
  if (!value) return "";
  return ` -r${value.kind === "anything" ? " -f" : choices(value)}`;
}

function choices(values: Values): string {
  if (values.kind === "words") return ` -f -a ${quote(values.words.join(" "))}`;
  if (values.kind === "names") return ` -f -a '(__retinue_names ${values.of})'`;
  if (values.kind === "folders") return " -f -a '(__fish_complete_directories (commandline -ct))'";
  return values.kind === "files" ? " -F" : "";
}

/** Text in single quotes, as fish reads it. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
