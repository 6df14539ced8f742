import { readFileSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { read } from "@retinue/code/file-tools/read";
import { edit, write } from "@retinue/code/file-tools/write-tools";
import { after, callDelegateMany, callTool, type Script, say } from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect } from "vitest";
import type { Attack, World } from "./attack.ts";

/** Why no guard of a run can be switched off to let these attacks through. */
const READ_FIRST = "the file tools themselves remember what each run has read";

const FILE = "list.txt";
const rights = { tools: ["read", "write", "edit"] };

/** The file tools; in a broken world, ones that know nothing of what anybody read. */
function writersTools({ broken, projectDir }: World): readonly AnyTool[] {
  if (!broken) return [read, write, edit];
  const path = join(projectDir, FILE);
  const plain = (name: string, execute: (input: Record<string, unknown>) => Promise<string>) =>
    defineTool<Record<string, unknown>>({
      name,
      description: `Plain ${name}.`,
      input: { type: "object" },
      execute,
    });
  // Both have read before either writes, so what an edit of the text they read gives is known.
  const put = async (text: string) => {
    await writeFile(path, text);
    return "modified";
  };
  return [
    plain("read", () => readFile(path, "utf8")),
    plain("write", ({ content }) => put(String(content))),
    plain("edit", ({ edits }) => put(`begin\n${(edits as { new: string }[])[0]?.new ?? ""}`)),
  ];
}

/** Reads, waits until the other one has read too, changes what it read, and once more if it is told of a conflict. */
function writers(changeOf: (letter: string, text: string) => ReturnType<typeof callTool>): Script {
  const bothRead = Promise.withResolvers<void>();
  let readers = 0;
  return ({ turn, task, last }) => {
    const letter = task.startsWith("add a") ? "a" : "b";
    if (turn === 0) return callTool("read", { path: FILE });
    if (turn === 1) {
      if (++readers === 2) bothRead.resolve();
      return after(bothRead.promise, changeOf(letter, last));
    }
    if (last.includes("changed since you read it")) return callTool("read", { path: FILE });
    return last.includes("modified") ? say("added") : changeOf(letter, last);
  };
}

function lost(id: string, title: string, changeOf: Parameters<typeof writers>[0]): Attack {
  return {
    id,
    title,
    noGuard: READ_FIRST,
    setup: (world) => {
      writeFileSync(join(world.projectDir, FILE), "begin\nend\n");
      return { tools: writersTools(world), agents: { lead: rights, worker: rights } };
    },
    turns: () => ({
      lead: [
        callDelegateMany([
          { id: "a", agent: "worker", task: "add a" },
          { id: "b", agent: "worker", task: "add b" },
        ]),
        say("done"),
      ],
      worker: writers(changeOf),
    }),
    oracle: ({ world }) => {
      const lines = readFileSync(join(world.projectDir, FILE), "utf8").split("\n");
      expect(lines.filter(Boolean).toSorted()).toEqual(["a", "b", "begin", "end"]);
    },
  };
}

/** Several who write the same file. */
export const WRITER_CASES: readonly Attack[] = [
  lost("F12", "two children edit one file: one of them is told, and no update is lost", (letter) =>
    callTool("edit", { path: FILE, edits: [{ old: "end\n", new: `${letter}\nend\n` }] }),
  ),
  lost("F12b", "two children write one file: one of them is told, and no update is lost", (letter, text) => {
    const lines = [...text.matchAll(/\b(?:begin|end|a|b)$/gm)].map(([line]) => line);
    const content = [...lines.filter((line) => line !== "end"), letter, "end", ""].join("\n");
    return callTool("write", { path: FILE, content });
  }),
  {
    id: "F12c",
    title: "two children write one file that neither has read: the second is told to read it first",
    noGuard: READ_FIRST,
    setup: (world) => ({ tools: writersTools(world), agents: { lead: rights, worker: rights } }),
    turns: () => {
      let begun = 0;
      const both = Promise.withResolvers<void>();
      return {
        lead: [
          callDelegateMany([
            { id: "a", agent: "worker", task: "add a" },
            { id: "b", agent: "worker", task: "add b" },
          ]),
          say("done"),
        ],
        worker: ({ turn, task, last }) => {
          const letter = task.startsWith("add a") ? "a" : "b";
          if (turn === 0) {
            if (++begun === 2) both.resolve();
            return after(both.promise, callTool("write", { path: FILE, content: `${letter}\n` }));
          }
          if (last.includes("read it first")) return callTool("read", { path: FILE });
          if (/\b(?:created|modified)\b/.test(last)) return say("added");
          const [, other = ""] = /\b([ab])$/m.exec(last) ?? [];
          return callTool("write", { path: FILE, content: `${other}\n${letter}\n` });
        },
      };
    },
    oracle: ({ world }) => {
      const lines = readFileSync(join(world.projectDir, FILE), "utf8").split("\n");
      expect(lines.filter(Boolean).toSorted()).toEqual(["a", "b"]);
    },
  },
];
