import type { Word } from "@retinue/core/rights/patterns/shell-word";

/** Shells by their names. */
export const SHELLS = new Set(["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"]);
/** Interpreters with the options by which they take their program as text. */
const INTERPRETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["bun", ["-e", "--eval", "-p", "--print"]],
  ["deno", []],
  ["lua", ["-e"]],
  ["luajit", ["-e"]],
  ["node", ["-e", "--eval", "-p", "--print", "-pe"]],
  ["nodejs", ["-e", "--eval", "-p", "--print", "-pe"]],
  ["osascript", ["-e"]],
  ["perl", ["-e", "-E"]],
  ["php", ["-r"]],
  ["powershell", ["-c", "-command"]],
  ["pwsh", ["-c", "-command"]],
  ["pypy", ["-c"]],
  ["python", ["-c"]],
  ["rscript", ["-e"]],
  ["ruby", ["-e"]],
  ["tclsh", []],
  ["ts-node", ["-e", "--eval"]],
  ["tsx", ["-e", "--eval"]],
]);
/** Programs that delete what they are given. */
export const DELETERS = new Set(["del", "del-cli", "rimraf", "rm", "shred", "srm", "unlink", "wipe"]);
/** Programs that bring bytes from outside. */
export const DOWNLOADERS = new Set(
  "aria2c axel curl curlie dig drill elinks fetch ftp get http https httpie kdig lftp links lwp-download lwp-request lynx nc ncat netcat nslookup scp sftp socat ssh telnet tftp w3m wget wget2 xh xhs".split(
    " ",
  ),
);
/** Programs that turn text which nobody can read into text. */
export const DECODERS = new Set(
  "age base32 base64 basenc bunzip2 bzcat gpg gunzip gzcat lz4cat lzcat openssl rev unlzma unxz unzstd uudecode uncompress xxd xzcat zcat zstdcat".split(
    " ",
  ),
);
/** Programs that write what they are given to another name: the last one, or those after an option. */
export const RELAYS = new Set("busybox cp dd install ln mv rsync sponge tee".split(" "));
/** Programs that write what they are given to names of their own. */
export const UNPACKERS = new Set(
  "7z bsdtar bunzip2 cpio gunzip gzip patch rename split tar unar unzip unxz xz zstd".split(" "),
);
/** Programs that bring bytes from outside in some of their calls. */
export const FETCHERS: ReadonlyMap<string, RegExp> = new Map([
  ["aws", /^s3(?:api)? (?:cp|get-object|mv|sync)\b/],
  ["az", /^storage \w+ download/],
  ["gcloud", /^storage (?:cat|cp|mv|rsync)\b/],
  ["gh", /^(?:api|gist (?:clone|view)|release download|repo clone|run download)\b/],
  ["glab", /^(?:api|release download|repo clone|snippet view)\b/],
  ["gsutil", /^(?:-m )?(?:cat|cp|mv|rsync)\b/],
  ["hg", /^(?:cat|clone|pull)\b/],
  ["rclone", /^(?:cat|copy|copyto|copyurl|move|sync)\b/],
  ["svn", /^(?:cat|checkout|co|export)\b/],
]);
/** Programs whose arguments may hold commands. */
export const HOLDS_COMMANDS = new Set(
  "at awk batch concurrently crontab ed emacs entr ex expect find flock gawk gdb gmake hyperfine m4 make mawk nawk nix-shell nodemon nvim perl screen script sed sqlite3 ssh su tmux vi vim watchexec".split(
    " ",
  ),
);
/** Programs that start another one, whose name is among their words. */
export const STARTS_OTHERS = new Set(
  "cgexec chrt cross-env dbus-run-session direnv dotenv entr fakeroot faketime firejail mise nix numactl prlimit proxychains parallel proxychains4 rlwrap runuser setpriv ssh su systemd-run torsocks unbuffer uv valgrind watchexec xvfb-run".split(
    " ",
  ),
);
/** Programs that print nothing but what they are given, or some lines of it. */
export const PASSES_ON = new Set("cat egrep fgrep grep head pv tail tee".split(" "));
/** Commands that print nothing that could be run. */
export const SILENT = new Set(
  ": [ [[ cd chmod chown cp declare export false local mkdir mv popd pushd pwd read readonly rm set shift shopt sleep test touch trap true typeset umask unset wait".split(
    " ",
  ),
);
/** Programs that only look at their words, whatever these say, or have an `rm` of their own. */
export const READS_WORDS = new Set(
  "[ [[ ack ag apropos aws basename bat cat cd chmod chown command cp diff dirname docker du echo egrep export fgrep file gh git grep hash head help info jq kubectl less ln ls man mkdir more mv nerdctl podman printf read rg stat tail tar terraform test tldr touch type wc whatis whereis which zgrep".split(
    " ",
  ),
);

/** The options by which an interpreter takes its program as text; undefined if a program is none. */
export function findInterpreter(name: string): readonly string[] | undefined {
  return INTERPRETERS.get(name) ?? INTERPRETERS.get(name.replace(/[\d.]+$/, ""));
}

/** Whether a program runs what comes in. */
export function runsInput(program: string): boolean {
  const name = nameProgram(program);
  return SHELLS.has(name) || findInterpreter(name) !== undefined;
}

/** The words of a call that are no options; after `--` every word is one. */
export function readOperands(words: readonly Word[], valued?: RegExp): Word[] {
  const before = takeOptions(words);
  const named = before.filter(
    (word, index) => !/^-./.test(word.value) && !valued?.test(before[index - 1]?.value ?? ""),
  );
  return [...named, ...words.slice(before.length + 1)];
}

/** The words of a call up to `--`, among which options may be. */
export function takeOptions(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex((word) => word.value === "--");
  return end < 0 ? words : words.slice(0, end);
}

/** Whether a call has an option that looks so; what is after `--` is none. */
export function hasOption(words: readonly Word[], pattern: RegExp): boolean {
  return takeOptions(words).some(({ value }) => pattern.test(value));
}

/** A word that stands for itself. */
export function makePlainWord(value: string): Word {
  return { raw: value, value, dynamic: false, odd: false };
}

/** The name of a program, without its folder. */
export function nameProgram(program: string): string {
  return cutFolder(program)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

/** The last part of a path. */
export function cutFolder(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
