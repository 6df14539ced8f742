import { expect, test } from "vitest";
import { handClock } from "../../../../test/attacks/clocks.ts";
import { repeat } from "./repeat.ts";

test("what is switched on is done once in every interval until it is switched off", () => {
  const clock = handClock();
  let times = 0;
  const repeated = repeat(clock, 100, () => times++);
  clock.advance(1_000);
  expect(times).toBe(0);
  repeated.set(true);
  for (let round = 0; round < 3; round++) clock.advance(100);
  expect(times).toBe(3);
  repeated.set(false);
  clock.advance(1_000);
  expect(times).toBe(3);
});

test("switching on what is on neither doubles nor delays it", () => {
  const clock = handClock();
  let times = 0;
  const repeated = repeat(clock, 100, () => times++);
  repeated.set(true);
  clock.advance(60);
  repeated.set(true);
  clock.advance(40);
  expect(times).toBe(1);
  repeated.set(false);
  clock.advance(100);
  expect(times).toBe(1);
});

test("what throws is done again the next time", () => {
  const clock = handClock();
  let times = 0;
  const repeated = repeat(clock, 100, () => {
    times++;
    throw new Error("busy");
  });
  repeated.set(true);
  expect(() => clock.advance(100)).not.toThrow();
  clock.advance(100);
  expect(times).toBe(2);
});
