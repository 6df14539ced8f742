import { expect, test } from "vitest";
import type { Target } from "../schema/rights.ts";
import { ProjectText, tellsOfProject } from "./project-text.ts";

test("text of the project steers a session from when it entered; that is kept once", () => {
  let kept = 0;
  const text = new ProjectText({ isTrusted: false, keep: () => kept++ });
  expect(text.hasEntered).toBe(false);
  text.enter();
  text.enter();
  expect([text.hasEntered, kept]).toEqual([true, 1]);
});

test("text of a trusted project steers nothing, but it is kept that it entered", () => {
  let kept = 0;
  const text = new ProjectText({ isTrusted: true, keep: () => kept++ });
  text.enter();
  expect([text.hasEntered, kept]).toEqual([false, 1]);
});

test("an answer tells of the project if it was read there, or if a write failed there, and commands always do", () => {
  const path = (root: "project" | "workspace" | "outside", mode: "read" | "write"): Target => ({
    ...{ kind: "path", path: "/x", relative: "x", root, mode },
  });
  const tells = (target: Target, isError = false, groups: string[] = []) =>
    tellsOfProject({ tool: { groups }, targets: [target] }, isError);
  expect([tells(path("project", "read")), tells(path("outside", "read"))]).toEqual([true, true]);
  expect([tells(path("workspace", "read")), tells(path("project", "write"))]).toEqual([false, false]);
  expect([tells(path("project", "write"), true), tells(path("workspace", "write"), true)]).toEqual([
    true,
    false,
  ]);
  expect(tells({ kind: "host", host: "example.org" })).toBe(false);
  for (const group of ["git", "shell", "test"])
    expect(tellsOfProject({ tool: { groups: [group] }, targets: [] }, false)).toBe(true);
});
