import { access, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { parseObject, readObject } from "@retinue/core/schema/json-object";
import { type RunnerName, readProjectFile, rebaseReport, type TestedPath } from "./detect-runner.ts";
import { parseJunit } from "./parse-junit.ts";
import { parseCargo, parseGo, parseJest, parseMocha, parseUnittest } from "./parse-reports.ts";
import { parseTap } from "./parse-tap.ts";
import type { TestReport } from "./test-report.ts";

type Planner = (request: TestRequest) => TestCommand | Promise<TestCommand>;

const PLANNERS: Readonly<Record<RunnerName, Planner>> = {
  vitest: async (request) => {
    const file = join(request.reportDir, "report.json");
    // A configuration is bundled into a file beside it, which a read-only project does not let happen.
    const loader = request.mayWrite("node_modules/.vite-temp/x") ? [] : ["--configLoader=runner"];
    return jsonCommand(request, file, [
      ...(await findTestProgram(request, "vitest")),
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
      "--coverage.enabled=false",
      ...loader,
      ...passFilter(request, (filter) => `--testNamePattern=${escapeRegExp(filter)}`),
      ...passPath(request),
    ]);
  },
  jest: async (request) => {
    const file = join(request.reportDir, "report.json");
    return jsonCommand(request, file, [
      ...(await findTestProgram(request, "jest")),
      "--json",
      `--outputFile=${file}`,
      "--coverage=false",
      "--cacheDirectory=/tmp/jest",
      ...passFilter(request, (filter) => `--testNamePattern=${escapeRegExp(filter)}`),
      ...(request.path ? [escapeRegExp(request.path.relative)] : []),
    ]);
  },
  mocha: async (request) => {
    const file = join(request.reportDir, "report.json");
    return {
      argv: [
        ...(await findTestProgram(request, "mocha")),
        "--reporter=json",
        `--reporter-option=output=${file}`,
        ...passFilter(request, (filter) => `--fgrep=${filter}`),
        ...(request.path?.isFolder ? ["--recursive"] : []),
        ...passPath(request),
      ],
      reportFile: file,
      parse: ({ report, stdout }) => parseMocha(report ?? stdout, request.projectDir),
    };
  },
  node: (request) => {
    const file = join(request.reportDir, "report.tap");
    const { path } = request;
    const tests = path?.isFolder
      ? [`./${escapeTestGlob(path.relative)}/**/*.{test,spec}.{js,mjs,cjs,ts,mts,cts}`]
      : passPath(request).map(escapeTestGlob);
    return {
      argv: [
        process.execPath,
        "--test",
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        "--test-reporter=tap",
        `--test-reporter-destination=${file}`,
        ...passFilter(request, (filter) => `--test-name-pattern=${escapeRegExp(filter)}`),
        ...tests,
      ],
      reportFile: file,
      parse: ({ report }) => parseTap(report ?? "", request.projectDir),
    };
  },
  bun: (request) => {
    const file = join(request.reportDir, "report.xml");
    const name = passFilter(request, (filter) => `--test-name-pattern=${escapeRegExp(filter)}`);
    return junitCommand(request, file, [
      "bun",
      "test",
      "--reporter=junit",
      `--reporter-outfile=${file}`,
      ...name,
      ...passPath(request),
    ]);
  },
  deno: (request) => {
    const file = join(request.reportDir, "report.xml");
    const name = passFilter(request, (filter) => `--filter=${filter}`);
    return junitCommand(request, file, [
      "deno",
      "test",
      "--no-prompt",
      `--junit-path=${file}`,
      ...name,
      ...passPath(request),
    ]);
  },
  npm: (request) => ({
    argv: ["npm", "test", "--silent"],
    notes:
      request.path || request.filter
        ? ["path and filter are not known to the project's own test script and were not used"]
        : [],
    parse: ({ stdout }) => parseTap(stdout, request.projectDir),
  }),
  pytest: async (request) => {
    const file = join(request.reportDir, "report.xml");
    const options = [
      "-q",
      "-p",
      "no:cacheprovider",
      "--continue-on-collection-errors",
      "--color=no",
      "-o",
      "junit_family=xunit1",
    ];
    return junitCommand(request, file, [
      await findPython(joinTestedDir(request)),
      "-m",
      "pytest",
      ...options,
      `--junitxml=${file}`,
      ...passFilter(request, (filter) => `-k${filter}`),
      ...passPath(request),
    ]);
  },
  unittest: async (request) => {
    const { path } = request;
    const where = path?.isFolder ? ["discover", "-s", path.relative, "-t", "."] : passPath(request);
    const name = passFilter(request, (filter) => `-k${filter}`);
    return {
      argv: [
        await findPython(joinTestedDir(request)),
        "-m",
        "unittest",
        ...(where.length > 0 ? where : ["discover"]),
        "-v",
        ...name,
      ],
      env: { PYTHONDONTWRITEBYTECODE: "1" },
      parse: ({ stderr, stdout }) => parseUnittest(`${stderr}\n${stdout}`, request.projectDir),
    };
  },
  go: async (request) => {
    const text = (await readProjectFile(joinTestedDir(request), "go.mod")) ?? "";
    const modulePath = /^module\s+"?([^\s"]+)/m.exec(text)?.[1] ?? "";
    const { path } = request;
    const folder = path && (path.isFolder ? path.relative : path.relative.replace(/\/?[^/]*$/, ""));
    const where = path?.isFolder ? `./${folder}/...` : folder === undefined ? "./..." : `./${folder}`;
    return {
      argv: [
        "go",
        "test",
        "-json",
        ...passFilter(request, (filter) => `-run=${escapeRegExp(filter)}`),
        where,
      ],
      env: { GOCACHE: "/tmp/go-build", GOFLAGS: "-mod=readonly" },
      parse: ({ stdout }) => rebaseReport(parseGo(stdout, modulePath), request.folder ?? ""),
    };
  },
  cargo: (request) => {
    const target = /^tests\/([^/]+)\.rs$/.exec(request.path?.relative ?? "")?.[1];
    const unused = request.path && !target;
    return {
      argv: [
        "cargo",
        "test",
        "--offline",
        "--no-fail-fast",
        "--color=never",
        ...(target ? [`--test=${target}`] : []),
        ...passFilter(request, (filter) => filter),
      ],
      env: {
        RUST_BACKTRACE: "0",
        ...(!request.mayWrite("target/x") && { CARGO_TARGET_DIR: "/tmp/target" }),
      },
      notes: unused ? ["cargo finds tests by their names; the path was not used"] : [],
      parse: ({ stdout, stderr }) => rebaseReport(parseCargo(`${stdout}\n${stderr}`), request.folder ?? ""),
    };
  },
};

/** The command that runs a project's tests with this runner. */
export async function planCommand(runner: RunnerName, request: TestRequest): Promise<TestCommand> {
  return PLANNERS[runner](request);
}

function jsonCommand({ projectDir }: TestRequest, reportFile: string, argv: readonly string[]): TestCommand {
  return { argv, reportFile, parse: ({ report }) => parseJest(report ?? "", projectDir) };
}

function junitCommand(request: TestRequest, reportFile: string, argv: readonly string[]): TestCommand {
  return {
    argv,
    reportFile,
    env: { PYTHONDONTWRITEBYTECODE: "1" },
    parse: async ({ report }) =>
      rebaseReport(await parseJunit(report ?? "", joinTestedDir(request)), request.folder ?? ""),
  };
}

/** What is to be tested. */
type TestRequest = {
  readonly projectDir: string;
  /** The folder that is tested, relative to the project; empty for all of it. */
  readonly folder?: string;
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
  readonly env?: Readonly<Record<string, string>>;
  readonly reportFile?: string;
  readonly notes?: readonly string[];
  readonly parse: (output: RunnerOutput) => TestReport | null | Promise<TestReport | null>;
};

/** The folder that is tested. */
function joinTestedDir({ projectDir, folder = "" }: TestRequest): string {
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
  for (let folder = request.folder ?? ""; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
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
