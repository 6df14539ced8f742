import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { pathTarget } from "@retinue/core/files/resolve-path";
import type { ShellSettings } from "@retinue/core/schema/settings";
import { number, oneOf, type TypeIn, textWith } from "@retinue/core/schema/shape";
import { DEFAULT_SHELL } from "@retinue/core/settings/default-settings";
import { toSeconds } from "@retinue/core/tools/accept-words";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "@retinue/core/tools/tool";
import { describeInput } from "../describe-input.ts";
import { FOLDER_WORDS } from "../file-tools/define-look.ts";
import type { CommandHost } from "../shell/command.ts";
import { findDiskRights } from "../shell/disk-rights.ts";
import { type CommandPerformer, createPerformer, refuseCommand } from "../shell/perform-command.ts";
import {
  type Candidate,
  chooseRunner,
  findPackage,
  RUNNERS,
  readProjectFile,
  rebasePath,
  type TestedPath,
} from "./detect-runner.ts";
import { NoRunner, planCommand, type TestCommand, type TestRequest } from "./plan-command.ts";
import { describeExit, nameSuite } from "./read-test-output.ts";
import { describeTestRun, isFault, type TestRunOutcome } from "./report-text.ts";

/** What the tool takes; the tests have at most so many seconds. */
function describeTestInput(seconds: number) {
  return describeInput({
    "path?": { ...textWith({ minLength: 1 }), description: "Only this test file or folder." },
    "filter?": {
      ...textWith({ minLength: 1, maxLength: 500, pattern: "^[^-]" }),
      description: "Only tests with this in their name.",
    },
    "runner?": { type: "string", ...oneOf(...RUNNERS) },
    "timeoutSeconds?": { ...number, exclusiveMinimum: 0, description: `At most ${seconds}.` },
  });
}
type TestInput = TypeIn<ReturnType<typeof describeTestInput>>;

const MAX_REPORT_BYTES = 64 * 1024 * 1024;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** Runners write no colours, and nothing that only a person at a terminal would want. */
const PLAIN = { NO_COLOR: "1", FORCE_COLOR: "0" };
const TEST_WORDS = {
  ...FOLDER_WORDS,
  paths: "path",
  files: "path",
  name: "filter",
  pattern: "filter",
  grep: "filter",
};

/** Runs a project's tests as the defaults say; the runtime takes the one of its settings. */
export const test: Tool<TestInput> = createTest(DEFAULT_SHELL);

/** Takes the command that runs the project's own tests, and a time-out in milliseconds. */
function acceptTest(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { timeout, command, ...rest } = input;
  // The project's own tests are what it runs anyway.
  const isUsual =
    typeof command === "string" &&
    /^(?:npm|yarn|pnpm|bun)(?: run)? test$|^pytest$|^(?:go|cargo) test\b/.test(command.trim());
  return {
    ...rest,
    ...(command !== undefined && !isUsual && { command }),
    ...(timeout !== undefined && { timeoutSeconds: toSeconds(timeout) }),
  };
}

/** Creates the tool that finds a project's test runner, runs it in the sandbox, and reads what it reports. */
export function createTest(settings: ShellSettings, host: CommandHost = {}): Tool<TestInput> {
  const perform = createPerformer({ ...settings, seconds: settings.testSeconds }, host);
  return defineTool<TestInput>({
    name: "test",
    description:
      "Runs the project's tests with its own runner; gives counts, and each failure with file, line and message.",
    groups: ["test"],
    risk: "medium",
    // On the host itself nothing keeps tests off the network.
    outbound: settings.sandbox === "off",
    // Tests are made to be run any number of times, and the sandbox lets them reach nothing but the project.
    replay: "safe",
    input: describeTestInput(settings.testSeconds),
    // The runner is found in nearly every project.
    untold: ["runner", "timeoutSeconds"],
    words: TEST_WORDS,
    accept: acceptTest,
    check: ({ filter }) => (filter?.includes("\0") ? "test: the filter holds a NUL character" : null),
    access: async ({ path = "." }, roots) => [
      { kind: "command", command: "test" },
      await pathTarget(path, "read", roots),
    ],
    withSettings: (all, places) => createTest(all.shell, places),
    execute: async (input, context) => {
      try {
        return await performTests(input, context, perform);
      } catch (thrown) {
        return refuseCommand("the tests were not run", thrown);
      }
    },
  });
}

async function performTests(
  input: TestInput,
  context: ToolContext,
  perform: CommandPerformer,
): Promise<ToolOutput> {
  const { projectDir, workspaceDir } = context;
  const place = await findTestedPath(context);
  const { folder, candidates: found } = await findPackage(projectDir, place);
  const candidate = chooseCandidate(input, found, place?.relative);
  const rights = await findDiskRights(context);
  const mayWrite = (relative: string) =>
    rights.writable.some((each) => isBelow(join(projectDir, folder, relative), each));
  await mkdir(workspaceDir, { recursive: true });
  const reportDir = await mkdtemp(join(workspaceDir, ".test-report-"));
  try {
    const path = rebasePath(place, folder);
    const request = { projectDir, folder, reportDir, path, filter: input.filter, mayWrite };
    const command = await planCommand(candidate.runner, request);
    context.progress(`${candidate.runner}: ${candidate.why}`);
    const outcome = await perform(
      {
        argv: command.argv,
        cwd: join(projectDir, folder),
        env: { ...PLAIN, ...command.env },
        maxOutputBytes: MAX_OUTPUT_BYTES,
        rights,
        scratch: [reportDir],
        ...(input.timeoutSeconds !== undefined && { seconds: input.timeoutSeconds }),
      },
      context,
    );
    const report = await command.parse({ report: await readReport(reportDir, command), ...outcome });
    noteTests(context, { candidate, folder, path, filter: input.filter, report, outcome });
    const others = found.filter(({ runner }) => runner !== candidate.runner);
    const where = folder === "" ? [] : [`these are the tests of ${folder}, run there`];
    const notes = [...where, ...command.notes];
    const told = { candidate, others, argv: command.argv, projectDir, reportDir, report, outcome, notes };
    return { text: describeTestRun(told), isError: isFault(told) };
  } finally {
    await rm(reportDir, { recursive: true, force: true });
  }
}

/** A run of tests, and which of a project's tests it was told to run. */
type TestedPart = Pick<TestRunOutcome, "candidate" | "report" | "outcome"> &
  Pick<TestRequest, "folder" | "path" | "filter">;

/** Counts what the runner reported. A file or package that did not load counts as a test that failed. */
function noteTests(
  context: ToolContext,
  { candidate: { runner }, folder, path, filter, report, outcome }: TestedPart,
): void {
  // A script of its own is read as TAP, which is how node's runner writes.
  const by = runner === "npm" ? "node" : runner;
  const isChosen = runner !== "npm" && (path !== undefined || filter !== undefined);
  const isFolder = path?.isFolder === true && filter === undefined;
  const whole = nameSuite(by, folder);
  const chosen = isFolder
    ? nameSuite(by, join(folder, path.relative))
    : nameSuite([by, path?.relative, filter].filter(Boolean).join(" "), folder);
  const { passed = 0, failed = 0, broken = [] } = report ?? {};
  const run = passed + failed + broken.length;
  const fault = run > passed ? undefined : describeExit(outcome, report !== null);
  if (report || fault !== undefined)
    context.tested(isChosen ? chosen : whole, {
      run,
      passed,
      ...(isChosen && { part_of: [whole] }),
      ...(fault !== undefined && { fault }),
    });
}

function chooseCandidate(
  { runner }: TestInput,
  found: readonly Candidate[],
  path: string | undefined,
): Candidate {
  if (runner) return { runner, why: found.find((each) => each.runner === runner)?.why ?? "it was asked for" };
  const candidate = chooseRunner(found, path);
  if (candidate) return candidate;
  throw new NoRunner(
    `no test runner was found in this project; name one with 'runner': ${RUNNERS.join(", ")}; or name with 'path' the package to test`,
  );
}

/** The file or folder that was judged; undefined for the whole project. */
async function findTestedPath({ targets }: ToolContext): Promise<TestedPath | undefined> {
  const target = targets.find((each) => each.kind === "path");
  if (target?.root !== "project") throw new NoRunner("the path is outside the project");
  if (target.relative === "") return undefined;
  const stats = await stat(target.path).catch(() => null);
  if (!stats) throw new NoRunner(`there is no ${target.relative}`);
  return { relative: target.relative, isFolder: stats.isDirectory() };
}

/** What tests could write is opened as any other file: no link is followed, and its size is limited. */
async function readReport(reportDir: string, { reportFile }: TestCommand): Promise<string | undefined> {
  return reportFile === undefined ? undefined : readProjectFile(reportDir, reportFile, MAX_REPORT_BYTES);
}
