import { expect, test } from "vitest";
import { RunSlot, Slots } from "./slots.ts";

const never = new AbortController().signal;

test("no more than the maximum hold a slot at once", async () => {
  const slots = new Slots(2);
  await Promise.all([slots.acquire(0, false, never), slots.acquire(0, false, never)]);
  let third = false;
  const waiting = slots.acquire(0, false, never).then(() => {
    third = true;
  });
  await Promise.resolve();
  expect([slots.active, slots.waiting, third]).toEqual([2, 1, false]);
  slots.release();
  await waiting;
  expect([slots.active, third]).toEqual([2, true]);
});

test("runs that come back go before new ones, the deepest first, the rest in order", async () => {
  const slots = new Slots(1);
  await slots.acquire(0, false, never);
  const order: string[] = [];
  const wait = (name: string, depth: number, returning: boolean) =>
    slots.acquire(depth, returning, never).then(() => {
      order.push(name);
      slots.release();
    });
  const all = [
    wait("new 1", 3, false),
    wait("new 2", 0, false),
    wait("back at 1", 1, true),
    wait("back at 2", 2, true),
  ];
  slots.release();
  await Promise.all(all);
  expect(order).toEqual(["back at 2", "back at 1", "new 1", "new 2"]);
  expect(slots.active).toBe(0);
});

test("a waiter that was stopped takes no slot", async () => {
  const slots = new Slots(1);
  await slots.acquire(0, false, never);
  const controller = new AbortController();
  const stopped = slots.acquire(0, false, controller.signal);
  controller.abort();
  expect(await stopped).toBe(false);
  slots.release();
  expect(slots.active).toBe(0);
});

test("parallel calls of one run share one slot and give it back with the last of them", async () => {
  const slots = new Slots(1);
  const slot = new RunSlot(slots, 0);
  await Promise.all([slot.enter(never), slot.enter(never), slot.enter(never)]);
  expect(slots.active).toBe(1);
  slot.leave();
  slot.leave();
  expect(slots.active).toBe(1);
  slot.leave();
  expect(slots.active).toBe(0);
});

test("a run that had to wait for its first slot goes before new ones when it comes back", async () => {
  const slots = new Slots(1);
  await slots.acquire(0, false, never);
  const run = new RunSlot(slots, 1);
  const first = run.enter(never);
  slots.release();
  expect(await first).toBe(true);
  run.leave();
  await slots.acquire(0, false, never);
  const order: string[] = [];
  const fresh = slots.acquire(5, false, never).then(() => order.push("new"));
  const back = run.enter(never).then(() => order.push("back"));
  slots.release();
  await back;
  expect(order).toEqual(["back"]);
  run.leave();
  await fresh;
  slots.release();
  expect([slots.active, slots.waiting, run.isUsed]).toEqual([0, 0, false]);
});

test("a run that was stopped while it waited has no slot, and its next wait is a new one", async () => {
  const slots = new Slots(1);
  await slots.acquire(0, false, never);
  const [slot, controller] = [new RunSlot(slots, 0), new AbortController()];
  const both = Promise.all([slot.enter(controller.signal), slot.enter(controller.signal)]);
  controller.abort();
  expect(await both).toEqual([false, false]);
  expect(slot.isUsed).toBe(false);
  slots.release();
  expect(await slot.enter(never)).toBe(true);
  slot.leave();
  expect(slots.active).toBe(0);
});

test("while slots drain nobody who waits is let in, and all is drained with the last who leaves", async () => {
  const slots = new Slots(2);
  await Promise.all([slots.acquire(0, false, never), slots.acquire(0, false, never)]);
  const controller = new AbortController();
  const waiting = slots.acquire(1, true, controller.signal);
  let isDrained = false;
  const drained = slots.drain().then(() => {
    isDrained = true;
  });
  slots.release();
  await Promise.resolve();
  expect([slots.active, isDrained]).toEqual([1, false]);
  slots.release();
  await drained;
  expect([slots.active, slots.tryAcquire()]).toEqual([0, false]);
  controller.abort();
  expect(await waiting).toBe(false);
});

test("a run that was stopped gets no slot, although one is free", async () => {
  const slots = new Slots(1);
  expect(await slots.acquire(0, false, AbortSignal.abort())).toBe(false);
  expect(slots.active).toBe(0);
});

test("a run that got its first slot without waiting goes before new ones when it comes back", async () => {
  const slots = new Slots(1);
  const run = new RunSlot(slots, 1);
  expect(await run.enter(never)).toBe(true);
  run.leave();
  await slots.acquire(0, false, never);
  const order: string[] = [];
  const fresh = slots.acquire(5, false, never).then(() => order.push("new"));
  const back = run.enter(never).then(() => order.push("back"));
  expect(run.isUsed).toBe(true);
  slots.release();
  await back;
  run.leave();
  await fresh;
  expect(order).toEqual(["back", "new"]);
});

test("slots that nobody holds are drained at once, and a run that holds one begins no further call", async () => {
  await new Slots(1).drain();
  const slots = new Slots(1);
  const run = new RunSlot(slots, 0);
  expect(run.tryEnter()).toBe(true);
  const drained = slots.drain();
  expect(run.tryEnter()).toBe(false);
  run.leave();
  await drained;
});
