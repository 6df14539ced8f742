import { expect, test } from "vitest";
import type { RetinueEvent } from "../schema/event.ts";
import { EventBus } from "./event-bus.ts";

const notice = (message: string): RetinueEvent => ({
  type: "notice.raised",
  level: "warning",
  message,
  sessionId: "",
  atMs: 0,
});

/** Subscribes, and gives what is heard. */
function listen(bus: EventBus): { heard: string[]; stop: () => void } {
  const heard: string[] = [];
  const stop = bus.subscribe((event) => event.type === "notice.raised" && heard.push(event.message));
  return { heard, stop };
}

test("a listener that throws is told nothing more, and the others everything", () => {
  const bus = new EventBus();
  let told = 0;
  bus.subscribe(() => {
    told++;
    throw new Error("a listener's own fault");
  });
  const { heard, stop } = listen(bus);
  for (const message of ["one", "two"]) bus.publish(notice(message));
  expect(told).toBe(1);
  expect(heard).toEqual(["one", "two"]);
  stop();
  bus.publish(notice("three"));
  expect(heard).toEqual(["one", "two"]);
  expect(bus.watched).toBe(false);
});

test("a notice that nobody heard waits for the first listener; other events do not", () => {
  const bus = new EventBus();
  bus.publish({
    type: "session.started",
    title: "t",
    project: "/",
    workspace: "/",
    sessionId: "ses",
    atMs: 0,
  });
  for (let index = 0; index < 150; index++) bus.publish(notice(`notice ${index}`));
  const events: RetinueEvent["type"][] = [];
  bus.subscribe((event) => events.push(event.type));
  expect(new Set(events)).toEqual(new Set(["notice.raised"]));
  // So many are kept; more than that nobody reads.
  expect(events).toHaveLength(100);
  expect(listen(bus).heard).toEqual([]);
});
