import { open } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Mount, orderMounts, toBwrapOptions } from "./sandbox-mounts.ts";

let pin: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  pin = await open("/");
});
afterAll(() => pin.close());
const places = (mounts: readonly Mount[]) => mounts.map(({ kind, at }) => `${kind} ${at}`);

test("outer folders come first, and the last word on a path counts", () => {
  const ordered = orderMounts([
    { kind: "write", at: "/p/a/b" },
    { kind: "read", at: "/p" },
    { kind: "write", at: "/p" },
    { kind: "empty", at: "/tmp", megabytes: 1 },
    { kind: "hide-file", at: "/p/a" },
  ]);
  expect(places(ordered)).toEqual(["write /p", "empty /tmp", "hide-file /p/a", "write /p/a/b"]);
});

test("the sandbox gets exactly the handles that its options name, or one would stay open in it", () => {
  const mounts = orderMounts([
    { kind: "read", at: "/p", pin },
    { kind: "write", at: "/p", pin },
    { kind: "read", at: "/p/.git", pin },
    { kind: "read", at: "/usr" },
  ]);
  const { options, fds } = toBwrapOptions(mounts, { sized: true, pins: true }, 4);
  const named = options.filter((_, index) => options[index - 1]?.endsWith("-fd"));
  expect(named).toEqual(["4", "5"]);
  expect(fds).toEqual([pin.fd, pin.fd]);
});

test("temporary folders have a size where bubblewrap can give them one", () => {
  const mounts: Mount[] = [{ kind: "empty", at: "/tmp", megabytes: 3 }];
  expect(toBwrapOptions(mounts, { sized: true, pins: true }, 4).options.join(" ")).toContain(
    "--size 3145728 --tmpfs /tmp",
  );
  expect(toBwrapOptions(mounts, { sized: false, pins: true }, 4).options).not.toContain("--size");
});
