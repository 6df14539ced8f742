import { mandatoryPrompt } from "@retinue/core/delegate/system-prompt";
import { expect, test } from "vitest";
import { readSituation } from "./conversation.ts";

const agent = { name: "main", aliases: [], description: "" };
const asked = (system: string) =>
  readSituation({ prompt: [{ role: "system", content: system }] }, agent).demanded;

test("agents that a request must go to are read from what the runtime writes", () => {
  const both = [
    { agent: "report-expert", word: "report" },
    { agent: "auditor", word: "audit" },
  ];
  expect(asked(`You lead.\n\n${mandatoryPrompt(both)}`)).toEqual(["report-expert", "auditor"]);
  expect(asked("You lead. This request must go to `nobody`: so it says.")).toEqual([]);
});
