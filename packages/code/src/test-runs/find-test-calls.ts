import type { ProgramCall } from "@retinue/core/rights/patterns/command-part";
import { findInner } from "@retinue/core/rights/patterns/inner-command";
import { readCommand } from "@retinue/core/rights/patterns/split-command";
import { findOwn } from "@retinue/core/schema/find-own";
import { cutFolder } from "../shell/command-words.ts";
import { type Grounds, Whereabouts } from "./whereabouts.ts";

/** A program of a shell command that runs tests, or may. */
export type TestCall = {
  /** As it is written, without quotes. */
  readonly text: string;
  /** The runner that it names; null if it is a script or program that may start any. */
  readonly runner: string | null;
  /** It says that it runs tests. */
  readonly isTest: boolean;
  /** What the runner is told; null for what may run anything, such as `make` or a script not called `test`. */
  readonly args: readonly string[] | null;
  /** Where it runs, as the names of suites say it; null if only the shell knows. */
  readonly folder: string | null;
  /** It is known to run, or to be told to run, what is in neither the project nor the workspace, such as a copy. */
  readonly isElsewhere: boolean;
};

/** What of a folder's tests a call runs: all, some of them, or tests that running all of them need not include. */
type TestChoice = "all" | "some" | "other";

/** Programs that show or look for text, so that a summary among what they print is no test run. */
const SHOWING = new Set(
  "cat head tail less more grep egrep fgrep rg sed awk echo printf tee ls find wc sort uniq cut tr jq git diff true false export set test [ mkdir rm cp mv touch sleep exit wait mktemp pwd dirname basename realpath seq rsync ln read".split(
    " ",
  ),
);

/** The calls of a command that run tests, or may, in the order in which they stand. */
export function findTestCalls(command: string, grounds: Grounds): TestCall[] {
  const whereabouts = new Whereabouts(command, grounds);
  const found: TestCall[] = [];
  for (const call of readCommand(command).calls) {
    whereabouts.follow(call);
    const { words, list } = call;
    const name = cutFolder(words[0]?.value ?? "");
    const inner = findInner(words);
    if (name === "" || MOVING.has(name) || SHOWING.has(name)) continue;
    if (inner.commands.length + inner.scripts.length > 0) continue;
    const { folder, ...reading } = readCall(words.map(({ value }) => value));
    const start = whereabouts.placeIn(list);
    const place = folder === undefined ? start : whereabouts.resolve(list, start, folder);
    const places = [place, ...findPaths(reading, call).map((path) => whereabouts.resolve(list, place, path))];
    found.push({
      ...reading,
      text: words.map(({ value }) => value).join(" "),
      folder: whereabouts.name(place),
      isElsewhere: places.some((each) => whereabouts.isOutside(each)),
    });
  }
  return found;
}

/** Programs that change the folder for what follows. */
const MOVING = new Set(["cd", "pushd", "popd"]);
/** Flags of runners that name the project to work on. */
const PROJECT_FLAGS = new Set("--root --rootDir --rootdir --manifest-path --directory --chdir -C".split(" "));

/** The paths that tell a call what to run; what may be the value of a flag that names something else is none of them. */
function findPaths({ runner }: Reading, { words }: ProgramCall): string[] {
  const paths: string[] = [];
  let mayBeValue = false;
  for (const { value } of words.slice(1)) {
    const [flag = "", given] = value.split("=", 2);
    if (value.startsWith("-")) {
      if (PROJECT_FLAGS.has(flag) && given !== undefined) paths.push(given);
      const use = runner === null ? "unknown" : readFlag(runner, value);
      mayBeValue = given === undefined && !PROJECT_FLAGS.has(flag) && (use === "unknown" || use.takesNext);
    } else {
      if (!mayBeValue && /^[/~$]|\.\.(?:\/|$)/.test(value)) paths.push(value);
      mayBeValue = false;
    }
  }
  return paths;
}

type Reading = Pick<TestCall, "runner" | "isTest" | "args"> & { folder?: string };

const ANYTHING: Reading = { runner: null, isTest: false, args: null };
/** Words in front of a runner that only start it. */
const LAUNCHERS =
  /^(?:(?:npx|bunx|pnpx|php|c8|nyc|cross-env|(?:pnpm|yarn|npm) (?:exec|dlx)|(?:uv|poetry|pipenv|pdm|hatch|rye) run|bundle exec|node)(?: (?:-\S*|\w+=\S*))*|(?:pnpm|yarn|bun)(?= (?:vitest|jest|mocha|ava|tap|playwright)\b)|(?:python|py)[\d.]*(?: -\S+)*? -m) (?=\S)/;
const PACKAGE_MANAGERS = new Set(["npm", "pnpm", "yarn", "bun"]);

/** What a call runs, with everything in front of the runner's name taken off. */
function readCall(words: readonly string[]): Reading {
  let rest = [cutFolder(words[0] ?? ""), ...words.slice(1)];
  for (;;) {
    for (const [runner, { starts }] of Object.entries(RUNNERS)) {
      const start = starts.exec(rest.join(" "))?.[0];
      if (start !== undefined) return { runner, isTest: true, args: rest.slice(start.split(" ").length) };
    }
    const taken = launcherLength(rest);
    if (taken === 0) break;
    rest = [cutFolder(rest[taken] ?? "").replace(/\.[cm]?js$/, ""), ...rest.slice(taken + 1)];
  }
  const [program = "", ...args] = rest;
  if (PACKAGE_MANAGERS.has(program)) return readScript(program, args);
  return {
    ...ANYTHING,
    isTest: /^(?:(?:make|just|task|deno task|tox|nox) )+(?:test|check)\b/.test(rest.join(" ")),
  };
}

function launcherLength(words: readonly string[]): number {
  // Words with blanks in them must not count as several.
  const text = words.map((word) => word.replace(/\s/g, "_")).join(" ");
  const launcher = LAUNCHERS.exec(text)?.[0];
  return launcher === undefined ? 0 : launcher.trimEnd().split(" ").length;
}

const MANAGER_FLAGS = new Set(
  "-s --silent --if-present --no-fund --no-audit --no-color --quiet -q --reporter=silent".split(" "),
);
const FOLDER_FLAGS = new Set(["--prefix", "-C", "--cwd", "--dir"]);

/** `npm test` and its like: all of a package's tests unless the script's own arguments choose some. */
function readScript(program: string, words: readonly string[]): Reading {
  const args: string[] = [];
  let script: string | undefined;
  let folder: string | undefined;
  let isOther = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [flag = "", value] = word.split("=", 2);
    if (word === "--") {
      args.push(...words.slice(at + 1));
      break;
    }
    if (FOLDER_FLAGS.has(flag)) folder = value ?? words[++at] ?? "";
    else if (MANAGER_FLAGS.has(word) || flag === "--loglevel") continue;
    else if (script === undefined && (word === "run" || word === "run-script")) continue;
    else if (script === undefined && !word.startsWith("-")) script = word;
    else if (script === undefined || (program === "npm" && word.startsWith("-"))) isOther = true;
    else args.push(word);
  }
  const isAll = script === "test" || script === "t" || script === "tst";
  return {
    runner: null,
    isTest: /(?:^|[:_-])tests?(?:$|[:_-])/.test(script ?? "") || isAll,
    args: isAll && !isOther ? args : null,
    ...(folder !== undefined && { folder }),
  };
}

/** How a runner is called. Flags that stand in no list may change which tests there are. */
type RunnerWords = {
  /** The first words of a call, separated by single blanks. */
  readonly starts: RegExp;
  /** Flags that choose no tests, with a value of their own in `valued`. */
  readonly flags?: string;
  readonly valued?: string;
  /** Flags that choose some, with a value of their own in `choosing`. */
  readonly narrowing?: string;
  readonly choosing?: string;
  /** Words that choose no tests. */
  readonly plain?: string;
  /** Without this word a call runs only some. */
  readonly allBy?: string;
  /** It runs any file that is named, also one that it would not find by itself. */
  readonly anyFile?: true;
};

const RUNNERS: Readonly<Record<string, RunnerWords>> = {
  node: {
    starts: /^node(?=(?: \S+)* --test(?: |$))/,
    flags:
      "--test --enable-source-maps --experimental-strip-types --experimental-transform-types --experimental-test-coverage --no-warnings --trace-warnings --test-force-exit --test-update-snapshots",
    valued:
      "--test-reporter --test-reporter-destination --test-concurrency --test-timeout --test-isolation --import --require -r --loader --experimental-loader --env-file",
    narrowing: "--test-only",
    choosing: "--test-name-pattern --test-skip-pattern --test-shard",
    anyFile: true,
  },
  vitest: {
    starts: /^vitest(?: (?:run|watch|dev))?(?= |$)/,
    flags:
      "--run --silent --coverage --no-coverage --no-color --color --passWithNoTests --watch --no-watch --update -u --no-file-parallelism --no-isolate --hideSkippedTests --disable-console-intercept --printConsoleTrace --logHeapUsage --globals --ui",
    valued:
      "--reporter --outputFile --pool --poolOptions --maxWorkers --minWorkers --bail --retry --testTimeout --hookTimeout --configLoader",
    choosing: "-t --testNamePattern --changed --shard --exclude --project --dir",
  },
  jest: {
    starts: /^jest(?= |$)/,
    flags:
      "--ci --runInBand -i --silent --verbose --coverage --no-coverage --bail -b --no-cache --cache --colors --color --no-color --detectOpenHandles --forceExit --passWithNoTests --watchAll --json --logHeapUsage --expand -e -u --updateSnapshot --useStderr --randomize",
    valued:
      "--maxWorkers -w --reporters --testTimeout --outputFile --coverageReporters --coverageDirectory --cacheDirectory --seed",
    narrowing: "--onlyChanged -o --onlyFailures -f --findRelatedTests --lastCommit --runTestsByPath",
    choosing:
      "-t --testNamePattern --testPathPattern --testPathPatterns --shard --changedSince --testPathIgnorePatterns --selectProjects --ignoreProjects",
  },
  mocha: {
    starts: /^_?mocha(?= |$)/,
    flags:
      "--exit --bail -b --colors --color -c --no-color --check-leaks --full-trace --inline-diffs --parallel -p --forbid-only",
    valued:
      "--reporter -R --timeout -t --slow -s --ui -u --require -r --jobs -j --retries --reporter-option --reporter-options -O",
    narrowing: "-i --invert",
    choosing: "-g --grep -f --fgrep",
    anyFile: true,
  },
  pytest: {
    starts: /^(?:pytest|py\.test)(?= |$)/,
    flags:
      "-v -q -s -x -l --verbose --quiet --exitfirst --no-header --no-summary --showlocals --strict-markers --strict-config --disable-warnings --no-cov --cov --ff --failed-first --nf --new-first --continue-on-collection-errors",
    valued:
      "--tb --maxfail -n --numprocesses --color -r -p -o -W --cov-report --cov-config --junitxml --junit-xml --durations --timeout --capture --dist --log-level --log-cli-level --verbosity",
    narrowing: "--lf --last-failed --sw --stepwise",
    choosing: "-k -m --deselect --ignore --ignore-glob",
    anyFile: true,
  },
  unittest: {
    starts: /^(?:unittest(?: discover)?|manage\.py test|python[\d.]* manage\.py test)(?= |$)/,
    flags: "-v -q -f -b -c --verbose --quiet --failfast --buffer --catch --locals",
    choosing: "-k",
  },
  cargo: {
    starts: /^cargo (?:\+\S+ )?(?:test|t|nextest run)(?= |$)/,
    flags:
      "-q --quiet -v -vv --verbose --release --offline --locked --frozen --no-fail-fast --nocapture --no-capture --show-output",
    valued: "--color -j --jobs --test-threads --message-format --target-dir",
    narrowing: "--lib --bins --tests --doc --examples --benches --exact",
    choosing: "--bin --test --example --bench -p --package --exclude --skip -E",
  },
  go: {
    starts: /^go test(?= |$)/,
    flags: "-v -json -race -cover -failfast -a -x -trimpath -benchmem",
    valued: "-count -timeout -parallel -p -cpu -vet -mod -covermode -coverprofile -coverpkg -shuffle",
    narrowing: "-short",
    choosing: "-run -skip",
    plain: "./...",
    allBy: "./...",
  },
  deno: {
    starts: /^deno test(?= |$)/,
    flags:
      "-A --allow-all --allow-read --allow-write --allow-net --allow-env --allow-run --no-check -q --quiet --fail-fast --parallel --coverage --no-prompt --trace-leaks",
    valued: "--reporter --junit-path",
    choosing: "--filter --ignore",
    anyFile: true,
  },
  bun: {
    starts: /^bun test(?= |$)/,
    flags: "--coverage --bail -u --update-snapshots",
    valued: "--timeout --reporter --reporter-outfile",
    choosing: "-t --test-name-pattern",
  },
  rspec: {
    starts: /^rspec(?= |$)/,
    flags:
      "-c --color --colour --no-color --force-color -b --backtrace --fail-fast -w --warnings -p --profile",
    valued: "-f --format -r --require --seed --order -o --out",
    narrowing: "--only-failures",
    choosing: "-e --example -t --tag -P --pattern",
    anyFile: true,
  },
  phpunit: {
    starts: /^(?:phpunit|pest|artisan test)(?= |$)/,
    flags:
      "--colors --no-coverage -v --verbose --testdox --stop-on-failure --stop-on-error --debug --no-progress --ansi",
    valued: "--log-junit --coverage-text --coverage-html",
    choosing: "--filter --group --exclude-group --testsuite",
    anyFile: true,
  },
  maven: {
    starts: /^mvnw?(?=(?: \S+)* (?:test|verify|package|install)(?: |$))/,
    flags:
      "-q --quiet -B --batch-mode -e -ntp --no-transfer-progress -o --offline -U -fae -fn -ff --fail-at-end -X",
    valued: "-T --threads",
    choosing: "-Dtest -pl --projects -rf",
    plain: "test clean",
  },
  gradle: {
    starts: /^gradlew?(?=(?: \S+)* \S*(?:[tT]est|check|build)(?: |$))/,
    flags:
      "-q --quiet -i --info -s --stacktrace --no-daemon --continue --rerun-tasks --offline --no-build-cache",
    valued: "--console",
    choosing: "--tests",
    plain: "test clean cleanTest",
  },
  dotnet: {
    starts: /^dotnet test(?= |$)/,
    flags: "--no-build --no-restore --nologo --blame",
    valued: "-v --verbosity -l --logger --results-directory --collect",
    choosing: "--filter",
  },
  playwright: {
    starts: /^playwright test(?= |$)/,
    flags: "--quiet -x --fully-parallel",
    valued: "--reporter --workers -j --retries --timeout --max-failures --output",
    narrowing: "--last-failed --only-changed",
    choosing: "-g --grep --grep-invert --project --shard",
  },
  ava: {
    starts: /^ava(?= |$)/,
    flags: "-v --verbose --tap -t --serial -s --fail-fast --no-color --color",
    valued: "-c --concurrency --timeout -T",
    choosing: "-m --match",
    anyFile: true,
  },
  minitest: {
    starts: /^(?:rails test|rake test)(?= |$)/,
    flags: "-v --verbose -b --backtrace -f --fail-fast",
  },
  ctest: {
    starts: /^ctest(?= |$)/,
    flags: "-V -VV --verbose --output-on-failure -Q --quiet",
    valued: "-j --parallel --timeout",
    choosing: "-R -E -L -LE",
  },
  swift: {
    starts: /^swift test(?= |$)/,
    flags: "-v --verbose --parallel -q --quiet",
    choosing: "--filter --skip",
  },
  tap: { starts: /^(?:tap|prove|bats|tape)(?= |$)/, flags: "-v --verbose" },
};

/** What a flag of a runner does: whether it chooses some of the tests, and whether the next word is its value. */
function readFlag(runner: string, word: string): { isChoice: boolean; takesNext: boolean } | "unknown" {
  const { flags = "", valued = "", narrowing = "", choosing = "" } = findOwn(RUNNERS, runner) ?? {};
  const isIn = (list: string, flag: string) => list.split(" ").includes(flag);
  const flag = word.replace(/[=.].*$/s, "");
  // `-vx` is `-v -x`; `-n4` and `-rA` have their value with them.
  const letters = /^-[a-zA-Z]{2,}$/.test(word) ? [...word.slice(1)].map((letter) => `-${letter}`) : [flag];
  const isShort = /^-[a-zA-Z]./.test(word) && isIn(valued, word.slice(0, 2));
  if (isIn(flags, flag)) return { isChoice: false, takesNext: false };
  const hasValue = word.includes("=");
  if (isIn(valued, flag)) return { isChoice: false, takesNext: !hasValue };
  if (isIn(narrowing, flag)) return { isChoice: true, takesNext: false };
  if (isIn(choosing, flag)) return { isChoice: true, takesNext: !hasValue };
  const isPlain = isShort || letters.every((each) => isIn(flags, each));
  return isPlain ? { isChoice: false, takesNext: false } : "unknown";
}

/** What of its folder's tests a call runs with this runner. */
export function judgeChoice(runner: string, args: readonly string[]): TestChoice {
  const { plain = "", allBy, anyFile } = findOwn(RUNNERS, runner) ?? { starts: /^/ };
  let isSome = allBy !== undefined && !args.includes(allBy);
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--" || plain.split(" ").includes(word)) continue;
    if (!word.startsWith("-")) {
      if (anyFile && !/test|spec/i.test(word)) return "other";
      isSome = true;
      continue;
    }
    const use = readFlag(runner, word);
    if (use === "unknown") return "other";
    if (use.isChoice) isSome = true;
    if (use.takesNext) at++;
  }
  return isSome ? "some" : "all";
}
