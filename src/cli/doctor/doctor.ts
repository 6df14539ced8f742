import { EXIT } from "../exit-code.ts";
import { countOf } from "../measures.ts";
import { plainJson, plainLine, plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { wrapWords } from "../wrap-words.ts";
import type { Check, Finding, Verdict } from "./check.ts";
import type { Checked } from "./run-checks.ts";
import { type DoctorScope, runDoctorChecks } from "./run-doctor-checks.ts";

/** Options of `retinue doctor`. */
export type DoctorOptions = DoctorScope;

const SIGNS: Readonly<Record<Verdict, string>> = {
  ok: "✅ ok     ",
  warning: "⚠️  warning",
  problem: "❌ problem",
  skipped: "·  skipped",
};
/** Whoever still works after that is left behind. */
const LEAVE_MS = 300;
const SLOW_MS = 1_500;
/** Where the words begin, behind icon and verdict. */
const INDENT = 12;

/** `retinue doctor`: looks at everything that a run needs; 1 if something of it does not work. */
export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const slow = tellSlowness(terminal);
  const done = await runDoctorChecks(options, terminal, {
    begins: slow.begin,
    checked(checked) {
      slow.done(checked.name);
      if (!options.json) show(checked, terminal);
    },
  }).finally(slow.stop);
  if (done.some(({ timedOut }) => timedOut)) leaveSoon();
  const findings = done.flatMap((each) => each.findings);
  const count = (verdict: Verdict) => findings.filter((each) => each.verdict === verdict).length;
  const problems = count("problem");
  if (options.json) terminal.print(plainJson(asJson(done, problems, count("warning")), 2));
  else terminal.print(`\n${conclusion(problems, count("warning"))}`);
  return problems > 0 ? EXIT.failed : EXIT.ok;
}

function show({ findings }: Checked, terminal: Terminal): void {
  const say = (line: string, indent: number) => terminal.print(wrapWords(line, terminal, indent));
  for (const { verdict, summary, details = [], remedy } of findings) {
    say(`${SIGNS[verdict]}  ${plainLine(summary, 400)}`, INDENT);
    for (const detail of details) say(`${" ".repeat(INDENT)}${plainLine(detail, 300)}`, INDENT + 2);
    if (remedy) say(`${" ".repeat(INDENT)}→ ${plainText(remedy)}`, INDENT + 2);
  }
}

function conclusion(problems: number, warnings: number): string {
  const and = warnings > 0 ? `${problems > 0 ? " and " : ""}${countOf(warnings, "warning")}` : "";
  if (problems > 0) return `${countOf(problems, "problem")}${and}: follow the arrows above`;
  return warnings > 0 ? `no problems, ${and}; try: retinue demo` : "all is well; try: retinue demo";
}

function asJson(done: readonly Checked[], problems: number, warnings: number): object {
  const flat = done.flatMap(({ name, findings }) =>
    findings.map((finding: Finding) => ({ check: name, ...finding })),
  );
  return { ok: problems === 0, problems, warnings, checks: flat };
}

/** Tells a person who waits what is still being looked at. */
function tellSlowness(terminal: Terminal): {
  begin(checks: readonly Check[]): void;
  done(name: string): void;
  stop(): void;
} {
  const open = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  return {
    begin(checks) {
      for (const { name } of checks) open.add(name);
      timer = setInterval(() => terminal.tell(`still checking: ${[...open].join(", ")}`), SLOW_MS);
    },
    done: (name) => void open.delete(name),
    stop: () => clearInterval(timer),
  };
}

/** A check that was given up may go on in the background; the program does not wait for it. */
function leaveSoon(): void {
  setTimeout(() => process.exit(process.exitCode), LEAVE_MS).unref();
}
