import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, callDelegateMany, callTool, say, testRuntime } from "@retinue/core/testing";
import type { AnyTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { read } from "./read.ts";
import { edit, write } from "./write-tools.ts";

const tools: readonly AnyTool[] = [read, write, edit];
const rights = { tools: ["read", "write", "edit"] };

test("two children that read one file and edit it at once: the second is told, reads again, and nothing is lost", async () => {
  const bothRead = Promise.withResolvers<void>();
  let readers = 0;
  const answers: string[] = [];
  const change = (letter: string) =>
    callTool("edit", { path: "list.txt", edits: [{ old: "end\n", new: `${letter}\nend\n` }] });
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany([
          { id: "a", agent: "worker", task: "add a" },
          { id: "b", agent: "worker", task: "add b" },
        ]),
        say("done"),
      ],
      worker: ({ turn, task, last }) => {
        const letter = task.startsWith("add a") ? "a" : "b";
        if (turn === 0) return callTool("read", { path: "list.txt" });
        if (turn === 1) {
          if (++readers === 2) bothRead.resolve();
          return after(bothRead.promise, change(letter));
        }
        answers.push(last);
        if (last.includes("changed since you read it")) return callTool("read", { path: "list.txt" });
        return last.includes("modified") ? say("added") : change(letter);
      },
    },
    { tools, agents: { lead: rights, worker: rights } },
  );
  writeFileSync(join(t.projectDir, "list.txt"), "begin\nend\n");
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("completed");
  expect(answers.filter((text) => text.includes("changed since you read it"))).toHaveLength(1);
  const lines = readFileSync(join(t.projectDir, "list.txt"), "utf8").split("\n");
  expect(lines.toSorted()).toEqual(["", "a", "b", "begin", "end"]);
});

test("a child whose reading came from the session's cache may edit what it read", async () => {
  await using t = testRuntime(
    {
      lead: [
        callTool("read", { path: "a.txt" }),
        callDelegateMany([{ id: "a", agent: "worker", task: "change it" }]),
        callTool("edit", { path: "a.txt", edits: [{ old: "two", new: "three" }] }),
        say("done"),
      ],
      worker: [
        callTool("read", { path: "a.txt" }),
        callTool("edit", { path: "a.txt", edits: [{ old: "one", new: "two" }] }),
        say("changed"),
      ],
    },
    { tools, agents: { lead: rights, worker: rights } },
  );
  writeFileSync(join(t.projectDir, "a.txt"), "one\n");
  await t.runtime.run({ agent: "lead", task: "go" });
  const calls = t.events.flatMap((event) =>
    event.type === "call.ended" ? [`${event.tool} ${event.outcome}`] : [],
  );
  expect(calls.filter((call) => !call.startsWith("delegate"))).toEqual([
    "read ok",
    "read cached",
    "edit ok",
    "edit error",
  ]);
  expect(readFileSync(join(t.projectDir, "a.txt"), "utf8")).toBe("two\n");
});

test("a file whose name is as long as names can be is written and edited", async () => {
  const path = `${"n".repeat(251)}.txt`;
  await using t = testRuntime(
    {
      lead: [
        callTool("write", { path, content: "one" }),
        callTool("edit", { path, edits: [{ old: "one", new: "two" }] }),
        say("done"),
      ],
    },
    { tools },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(readFileSync(join(t.projectDir, path), "utf8")).toBe("two");
});
