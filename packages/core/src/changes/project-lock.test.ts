import { expect, test } from "vitest";
import { RetinueError } from "../schema/error.ts";
import { withProjectLock } from "./project-lock.ts";

/** A record that gives out leases, refuses the first so many, and tells what was taken and given back. */
function createLeases(refusals: readonly Error[] = []) {
  const told: string[] = [];
  const left = [...refusals];
  const takeLease = async () => {
    const refusal = left.shift();
    if (refusal) throw refusal;
    told.push("taken");
    return async () => void told.push("given back");
  };
  return { record: { takeLease }, told };
}

test("work on one folder is done one after the other, and work on another goes on meanwhile", async () => {
  const { record, told } = createLeases();
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = withProjectLock(record, "/one", () => promise);
  const second = withProjectLock(record, "/one", async () => void told.push("second"));
  await withProjectLock(record, "/two", async () => void told.push("other folder"));
  expect(told).not.toContain("second");
  resolve();
  await Promise.all([first, second]);
  expect(told.slice(-4)).toEqual(["given back", "taken", "second", "given back"]);
});

test("the lease is given back when the work fails", async () => {
  const { record, told } = createLeases();
  const failing = withProjectLock(record, "/fails", () => Promise.reject(new Error("no space")));
  await expect(failing).rejects.toThrow("no space");
  expect(told).toEqual(["taken", "given back"]);
});

test("a folder that another process has is waited for; a fault of the record is not", async () => {
  const busy = createLeases([new RetinueError("input", "another process has it")]);
  expect(await withProjectLock(busy.record, "/busy", async () => "done")).toBe("done");
  const broken = createLeases([new Error("the disk is gone")]);
  await expect(withProjectLock(broken.record, "/broken", async () => "done")).rejects.toThrow(
    "the disk is gone",
  );
  expect(broken.told).toEqual([]);
});
