import { expect, test } from "vitest";
import { parseAgentFile } from "../parse-agent-file.ts";

async function read(triggers: string) {
  const text = `---\nname: expert\ndescription: x\ndelegation:\n  mandatory: true\n  triggers: ${triggers}\n---\nYou.`;
  const { agent, problems } = await parseAgentFile(text, {
    file: "/p/expert.md",
    format: "native",
    scope: "project",
    known: {},
  });
  return { triggers: agent?.delegation?.triggers, problems };
}

test("a trigger is a word, or a word with what must and must not stand beside it", async () => {
  const { triggers, problems } = await read(
    "[report, { word: in-depth, with: article, not: [code, a bug] }]",
  );
  expect(triggers).toEqual(["report", { word: "in-depth", with: ["article"], not: ["code", "a bug"] }]);
  expect(problems).toEqual([]);
  expect((await read("report, analysis")).triggers).toEqual(["report", "analysis"]);
});

test("several words may share what must be beside them", async () => {
  expect((await read("[{ word: [summary, analysis], with: [web, news] }]")).triggers).toEqual([
    { word: "summary", with: ["web", "news"] },
    { word: "analysis", with: ["web", "news"] },
  ]);
});

test("a trigger that cannot be read is left out and told, and the others stay", async () => {
  for (const bad of [
    "7",
    "{ with: [web] }",
    "{ word: report, with: [] }",
    "{ word: report, not: { a: b } }",
  ]) {
    const { triggers, problems } = await read(`[analysis, ${bad}]`);
    expect(triggers).toEqual(["analysis"]);
    expect(problems).toMatchObject([{ code: "bad-value", severity: "warning" }]);
  }
  expect((await read("[{ word: report, wiht: [web] }]")).problems).toMatchObject([{ code: "unknown-key" }]);
});
