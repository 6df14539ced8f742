import { expect, test } from "vitest";
import { Deadline } from "./deadline.ts";

test("a deadline moves on by the time its clock stood still, counted once where stops overlap", () => {
  const deadline = new Deadline(100);
  deadline.stop(10);
  deadline.stop(20);
  deadline.start(30);
  expect([deadline.isStopped, deadline.atMs]).toEqual([true, 100]);
  deadline.start(40);
  expect([deadline.isStopped, deadline.atMs]).toEqual([false, 130]);
  deadline.stop(50);
  deadline.start(55);
  expect([deadline.isStopped, deadline.atMs]).toEqual([false, 135]);
});
