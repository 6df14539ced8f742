import { expect, test } from "vitest";
import { type DoctorCheck, ok, runChecks } from "./run-checks.ts";

test("findings come in the order of the list, whichever check is ready first", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const checks: DoctorCheck[] = [
    { name: "slow", run: () => promise.then(() => ok("slow")) },
    {
      name: "quick",
      run: () => {
        resolve();
        return ok("quick");
      },
    },
  ];
  const seen: string[] = [];
  await runChecks(checks, ({ name }) => seen.push(name));
  expect(seen).toEqual(["slow", "quick"]);
});

test("a check that throws and one that never answers become findings and hold up no other check", async () => {
  let told: AbortSignal | undefined;
  const checks: DoctorCheck[] = [
    {
      name: "broken",
      run: () => {
        throw new Error("no luck");
      },
    },
    {
      name: "hanging",
      patienceMs: 1,
      run: (signal) => {
        told = signal;
        return new Promise(() => {});
      },
    },
    { name: "fine", run: () => [ok("one"), ok("two")] },
  ];
  const done = await runChecks(checks, () => {});
  expect(done.map(({ findings }) => findings.map(({ verdict }) => verdict))).toEqual([
    ["problem"],
    ["warning"],
    ["ok", "ok"],
  ]);
  expect(done[0]?.findings[0]?.summary).toContain("no luck");
  expect(done.map(({ timedOut }) => timedOut)).toEqual([false, true, false]);
  expect(told?.aborted).toBe(true);
});
