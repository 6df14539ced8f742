import { join } from "node:path";
import { type RunnerName, readProjectFile } from "./detect-runner.ts";
import { fromProject } from "./find-package.ts";
import { findProgram, findPython } from "./find-program.ts";
import { parseJest, parseMocha } from "./parse-jest.ts";
import { parseJunit } from "./parse-junit.ts";
import { parseTap } from "./parse-tap.ts";
import { parseCargo, parseGo, parseUnittest } from "./parse-text.ts";
import {
  escapeGlob,
  escapePattern,
  named,
  pathOf,
  type TestCommand,
  type TestRequest,
  testedDir,
} from "./test-command.ts";

type Planner = (request: TestRequest) => TestCommand | Promise<TestCommand>;

const PLANNERS: Readonly<Record<RunnerName, Planner>> = {
  vitest: async (request) => {
    const file = join(request.reportDir, "report.json");
    // A configuration is bundled into a file beside it, which a read-only project does not let happen.
    const loader = request.mayWrite("node_modules/.vite-temp/x") ? [] : ["--configLoader=runner"];
    return jsonCommand(request, file, [
      ...(await findProgram(request, "vitest")),
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
      "--coverage.enabled=false",
      ...loader,
      ...named(request, (filter) => `--testNamePattern=${escapePattern(filter)}`),
      ...pathOf(request),
    ]);
  },
  jest: async (request) => {
    const file = join(request.reportDir, "report.json");
    return jsonCommand(request, file, [
      ...(await findProgram(request, "jest")),
      "--json",
      `--outputFile=${file}`,
      "--coverage=false",
      "--cacheDirectory=/tmp/jest",
      ...named(request, (filter) => `--testNamePattern=${escapePattern(filter)}`),
      ...(request.path ? [escapePattern(request.path.relative)] : []),
    ]);
  },
  mocha: async (request) => {
    const file = join(request.reportDir, "report.json");
    return {
      argv: [
        ...(await findProgram(request, "mocha")),
        "--reporter=json",
        `--reporter-option=output=${file}`,
        ...named(request, (filter) => `--fgrep=${filter}`),
        ...(request.path?.isFolder ? ["--recursive"] : []),
        ...pathOf(request),
      ],
      reportFile: file,
      parse: ({ report, stdout }) => parseMocha(report ?? stdout, request.projectDir),
    };
  },
  node: (request) => {
    const file = join(request.reportDir, "report.tap");
    const { path } = request;
    const tests = path?.isFolder
      ? [`./${escapeGlob(path.relative)}/**/*.{test,spec}.{js,mjs,cjs,ts,mts,cts}`]
      : pathOf(request).map(escapeGlob);
    return {
      argv: [
        process.execPath,
        "--test",
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        "--test-reporter=tap",
        `--test-reporter-destination=${file}`,
        ...named(request, (filter) => `--test-name-pattern=${escapePattern(filter)}`),
        ...tests,
      ],
      reportFile: file,
      parse: ({ report }) => parseTap(report ?? "", request.projectDir),
    };
  },
  bun: (request) => {
    const file = join(request.reportDir, "report.xml");
    const name = named(request, (filter) => `--test-name-pattern=${escapePattern(filter)}`);
    return junitCommand(request, file, [
      "bun",
      "test",
      "--reporter=junit",
      `--reporter-outfile=${file}`,
      ...name,
      ...pathOf(request),
    ]);
  },
  deno: (request) => {
    const file = join(request.reportDir, "report.xml");
    const name = named(request, (filter) => `--filter=${filter}`);
    return junitCommand(request, file, [
      "deno",
      "test",
      "--no-prompt",
      `--junit-path=${file}`,
      ...name,
      ...pathOf(request),
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
      await findPython(testedDir(request)),
      "-m",
      "pytest",
      ...options,
      `--junitxml=${file}`,
      ...named(request, (filter) => `-k${filter}`),
      ...pathOf(request),
    ]);
  },
  unittest: async (request) => {
    const { path } = request;
    const where = path?.isFolder ? ["discover", "-s", path.relative, "-t", "."] : pathOf(request);
    const name = named(request, (filter) => `-k${filter}`);
    return {
      argv: [
        await findPython(testedDir(request)),
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
    const text = (await readProjectFile(testedDir(request), "go.mod")) ?? "";
    const modulePath = /^module\s+"?([^\s"]+)/m.exec(text)?.[1] ?? "";
    const { path } = request;
    const folder = path && (path.isFolder ? path.relative : path.relative.replace(/\/?[^/]*$/, ""));
    const where = path?.isFolder ? `./${folder}/...` : folder === undefined ? "./..." : `./${folder}`;
    return {
      argv: ["go", "test", "-json", ...named(request, (filter) => `-run=${escapePattern(filter)}`), where],
      env: { GOCACHE: "/tmp/go-build", GOFLAGS: "-mod=readonly" },
      parse: ({ stdout }) => fromProject(parseGo(stdout, modulePath), request.folder ?? ""),
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
        ...named(request, (filter) => filter),
      ],
      env: {
        RUST_BACKTRACE: "0",
        ...(!request.mayWrite("target/x") && { CARGO_TARGET_DIR: "/tmp/target" }),
      },
      notes: unused ? ["cargo finds tests by their names; the path was not used"] : [],
      parse: ({ stdout, stderr }) => fromProject(parseCargo(`${stdout}\n${stderr}`), request.folder ?? ""),
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
    parse: ({ report }) => fromProject(parseJunit(report ?? "", testedDir(request)), request.folder ?? ""),
  };
}
