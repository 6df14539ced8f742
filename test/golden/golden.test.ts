import { afterAll, beforeAll, expect, test } from "vitest";
import { compareRecords } from "./compare.ts";
import { listRecords, listScenarios, loadScenario, readGolden, readTexts } from "./golden-files.ts";
import { playScenario } from "./play-scenario.ts";
import { makeRoot, removeRoot } from "./world.ts";

const texts = readTexts();
let root = "";
beforeAll(() => {
  root = makeRoot();
});
afterAll(() => removeRoot(root));

test("there is a golden record of every scenario and of nothing else", () => {
  expect(listRecords()).toEqual(listScenarios());
});

test.each(listScenarios())("%s is played as it was recorded", async (name) => {
  const now = await playScenario(name, await loadScenario(name), root);
  const differences = compareRecords(name, readGolden(name, texts), now);
  if (differences.length > 0)
    expect.fail(
      `the program behaves differently (\`npm run golden\` if that is meant to be so)\n${differences.join("\n")}`,
    );
});
