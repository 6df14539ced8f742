import { access, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { parseObject, readObject } from "@retinue/core/schema/json-object";
import { type RunnerName, readProjectFile, rebaseReport, type TestedPath } from "./detect-runner.ts";
import { parseJunit } from "./parse-junit.ts";
import { parseCargo, parseGo, parseJest, parseMocha, parseUnittest } from "./parse-reports.ts";
import { parseTap } from "./parse-tap.ts";
import type { TestReport } from "./test-report.ts";

/** How the tests of a project are run with one runner. */
type Planner = {
  /** The name of the file in which it leaves its report; without one its output is read. */
  readonly report?: string;
  readonly argv: (request: TestRequest, reportFile: string) => readonly string[] | Promise<readonly string[]>;
  readonly env?: (request: TestRequest) => Readonly<Record<string, string>>;
  readonly notes?: (request: TestRequest) => readonly string[];
  readonly parse: (
    output: RunnerOutput,
    request: TestRequest,
  ) => TestReport | null | Promise<TestReport | null>;
};

const NO_BYTECODE = { PYTHONDONTWRITEBYTECODE: "1" };

const PLANNERS: Readonly<Record<RunnerName, Planner>> = {
  vitest: {
    report: "report.json",
    argv: async (request, file) => [
      ...(await findTestProgram(request, "vitest")),
      ..."run --reporter=default --reporter=json".split(" "),
      `--outputFile.json=${file}`,
      "--coverage.enabled=false",
      // A configuration is bundled into a file beside it, which a read-only project does not let happen.
      ...(request.mayWrite("node_modules/.vite-temp/x") ? [] : ["--configLoader=runner"]),
      ...passFilter(request, (filter) => `--testNamePattern=${escapeRegExp(filter)}`),
      ...passPath(request),
    ],
    parse: ({ report }, { projectDir }) => parseJest(report ?? "", projectDir),
  },
  jest: {
    report: "report.json",
    argv: async (request, file) => [
      ...(await findTestProgram(request, "jest")),
      "--json",
      `--outputFile=${file}`,
      "--coverage=false",
      "--cacheDirectory=/tmp/jest",
      ...passFilter(request, (filter) => `--testNamePattern=${escapeRegExp(filter)}`),
      ...(request.path ? [escapeRegExp(request.path.relative)] : []),
    ],
    parse: ({ report }, { projectDir }) => parseJest(report ?? "", projectDir),
  },
  mocha: {
    report: "report.json",
    argv: async (request, file) => [
      ...(await findTestProgram(request, "mocha")),
      "--reporter=json",
      `--reporter-option=output=${file}`,
      ...passFilter(request, (filter) => `--fgrep=${filter}`),
      ...(request.path?.isFolder ? ["--recursive"] : []),
      ...passPath(request),
    ],
    parse: ({ report, stdout }, { projectDir }) => parseMocha(report ?? stdout, projectDir),
  },
  node: {
    report: "report.tap",
    argv: (request, file) => [
      process.execPath,
      ..."--test --test-reporter=spec --test-reporter-destination=stdout --test-reporter=tap".split(" "),
      `--test-reporter-destination=${file}`,
      ...passFilter(request, (filter) => `--test-name-pattern=${escapeRegExp(filter)}`),
      ...(request.path?.isFolder
        ? [`./${escapeTestGlob(request.path.relative)}/**/*.{test,spec}.{js,mjs,cjs,ts,mts,cts}`]
        : passPath(request).map(escapeTestGlob)),
    ],
    parse: ({ report }, { projectDir }) => parseTap(report ?? "", projectDir),
  },
  bun: {
    report: "report.xml",
    argv: (request, file) => [
      ..."bun test --reporter=junit".split(" "),
      `--reporter-outfile=${file}`,
      ...passFilter(request, (filter) => `--test-name-pattern=${escapeRegExp(filter)}`),
      ...passPath(request),
    ],
    parse: readJunitReport,
  },
  deno: {
    report: "report.xml",
    argv: (request, file) => [
      ..."deno test --no-prompt".split(" "),
      `--junit-path=${file}`,
      ...passFilter(request, (filter) => `--filter=${filter}`),
      ...passPath(request),
    ],
    parse: readJunitReport,
  },
  npm: {
    argv: () => ["npm", "test", "--silent"],
    notes: ({ path, filter }) =>
      path || filter
        ? ["path and filter are not known to the project's own test script and were not used"]
        : [],
    parse: ({ stdout }, { projectDir }) => parseTap(stdout, projectDir),
  },
  pytest: {
    report: "report.xml",
    argv: async (request, file) => [
      await findPython(joinTestedDir(request)),
      ..."-m pytest -q -p no:cacheprovider --continue-on-collection-errors --color=no".split(" "),
      ..."-o junit_family=xunit1".split(" "),
      `--junitxml=${file}`,
      ...passFilter(request, (filter) => `-k${filter}`),
      ...passPath(request),
    ],
    env: () => NO_BYTECODE,
    parse: readJunitReport,
  },
  unittest: {
    argv: async (request) => {
      const { path } = request;
      const where = path?.isFolder ? ["discover", "-s", path.relative, "-t", "."] : passPath(request);
      const python = await findPython(joinTestedDir(request));
      const name = passFilter(request, (filter) => `-k${filter}`);
      return [python, "-m", "unittest", ...(where.length > 0 ? where : ["discover"]), "-v", ...name];
    },
    env: () => NO_BYTECODE,
    parse: ({ stderr, stdout }, { projectDir }) => parseUnittest(`${stderr}\n${stdout}`, projectDir),
  },
  go: {
    argv: (request) => {
      const { path } = request;
      const folder = path && (path.isFolder ? path.relative : path.relative.replace(/\/?[^/]*$/, ""));
      const where = path?.isFolder ? `./${folder}/...` : folder === undefined ? "./..." : `./${folder}`;
      return [
        "go",
        "test",
        "-json",
        ...passFilter(request, (filter) => `-run=${escapeRegExp(filter)}`),
        where,
      ];
    },
    env: () => ({ GOCACHE: "/tmp/go-build", GOFLAGS: "-mod=readonly" }),
    parse: async ({ stdout }, request) => {
      const text = (await readProjectFile(joinTestedDir(request), "go.mod")) ?? "";
      const modulePath = /^module\s+"?([^\s"]+)/m.exec(text)?.[1] ?? "";
      return rebaseReport(parseGo(stdout, modulePath), request.folder);
    },
  },
  cargo: {
    argv: (request) => {
      const target = findCargoTarget(request);
      return [
        ..."cargo test --offline --no-fail-fast --color=never".split(" "),
        ...(target ? [`--test=${target}`] : []),
        ...passFilter(request, (filter) => filter),
      ];
    },
    env: ({ mayWrite }) => ({
      RUST_BACKTRACE: "0",
      ...(!mayWrite("target/x") && { CARGO_TARGET_DIR: "/tmp/target" }),
    }),
    notes: (request) =>
      request.path && !findCargoTarget(request)
        ? ["cargo finds tests by their names; the path was not used"]
        : [],
    parse: ({ stdout, stderr }, { folder }) => rebaseReport(parseCargo(`${stdout}\n${stderr}`), folder),
  },
};

/** The command that runs a project's tests with this runner. */
export async function planCommand(runner: RunnerName, request: TestRequest): Promise<TestCommand> {
  const { report, argv, env, notes, parse } = PLANNERS[runner];
  const reportFile = report && join(request.reportDir, report);
  return {
    argv: await argv(request, reportFile ?? ""),
    env: env?.(request) ?? {},
    notes: notes?.(request) ?? [],
    reportFile,
    parse: (output) => parse(output, request),
  };
}

async function readJunitReport({ report }: RunnerOutput, request: TestRequest): Promise<TestReport | null> {
  return rebaseReport(await parseJunit(report ?? "", joinTestedDir(request)), request.folder);
}

function findCargoTarget({ path }: TestRequest): string | undefined {
  return /^tests\/([^/]+)\.rs$/.exec(path?.relative ?? "")?.[1];
}

/** What is to be tested. */
export type TestRequest = {
  readonly projectDir: string;
  /** The folder that is tested, relative to the project; empty for all of it. */
  readonly folder: string;
  /** A folder that the runner may write and the host can read. */
  readonly reportDir: string;
  /** From the tested folder. */
  readonly path?: TestedPath | undefined;
  readonly filter?: string | undefined;
  /** Whether the runner may write into the tested folder. */
  readonly mayWrite: (relative: string) => boolean;
};

/** What a runner left behind. */
type RunnerOutput = {
  readonly report: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
};

/** A command, and how its output is read. */
export type TestCommand = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly reportFile: string | undefined;
  readonly notes: readonly string[];
  readonly parse: (output: RunnerOutput) => TestReport | null | Promise<TestReport | null>;
};

/** The folder that is tested. */
function joinTestedDir({ projectDir, folder }: TestRequest): string {
  return join(projectDir, folder);
}

/** Node takes its arguments for patterns, and brackets in names of files are not rare. */
function escapeTestGlob(text: string): string {
  return text.replace(/[[\]{}()*?]/g, "[$&]");
}

/** The option for a filter, if there is one. */
function passFilter({ filter }: TestRequest, option: (filter: string) => string): string[] {
  return filter === undefined ? [] : [option(filter)];
}

/** Never an option, whatever it is called. */
function passPath({ path }: TestRequest): string[] {
  return path === undefined ? [] : [path.relative.startsWith("-") ? `./${path.relative}` : path.relative];
}

/** A text as a regular expression that matches just it. */
function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** The tests cannot be started; the message says what is missing. */
export class NoRunner extends Error {
  override readonly name = "NoRunner";
}

/**
 * A package's program, run with this Node: what the shell would find as its name may be anything. It is looked for in the
 * tested folder and in those around it, up to the project's.
 */
async function findTestProgram(request: TestRequest, name: string): Promise<string[]> {
  const root = await realpath(request.projectDir);
  for (let { folder } = request; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const found = await findProgramIn(root, join(folder, "node_modules", name), name);
    if (found) return found;
    if (folder === "") break;
  }
  throw new NoRunner(
    `${name} is not installed: there is no node_modules/${name} in the project; install its dependencies first`,
  );
}

async function findProgramIn(root: string, folder: string, name: string): Promise<string[] | undefined> {
  // Package managers link packages to where they keep them.
  const real = await realpath(join(root, folder)).catch(() => undefined);
  if (real === undefined) return undefined;
  if (!isBelow(real, root))
    throw new NoRunner(`${folder} leads out of the project, where the sandbox does not let it be seen`);
  const manifest = parseObject((await readProjectFile(root, join(real, "package.json"))) ?? "");
  const { bin } = manifest ?? {};
  const path = typeof bin === "string" ? bin : readObject(bin)[name];
  return typeof path === "string" ? [process.execPath, join(real, path)] : undefined;
}

/** The Python of the project, or the one that is on the PATH. */
async function findPython(projectDir: string): Promise<string> {
  for (const folder of [".venv", "venv"]) {
    const path = join(projectDir, folder, "bin/python");
    const found = await access(path).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return "python3";
}
