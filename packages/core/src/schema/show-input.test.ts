import { expect, test } from "vitest";
import { showInput } from "./show-input.ts";

test("a command is shown as it is, and what else the call says behind its name", () => {
  expect(showInput({ command: 'echo "a\\n" && npm test' })).toBe('echo "a\\n" && npm test');
  expect(showInput({ command: "a\nb", cwd: "src", timeoutSeconds: 5 })).toBe(
    "a\nb\n\ncwd: src\ntimeoutSeconds: 5",
  );
});

test("texts keep their lines and their quotes", () => {
  expect(showInput({ agent: "coder", task: 'Fix "it"\n\nThen test' })).toBe(
    'agent: coder\ntask:\n  Fix "it"\n  \n  Then test',
  );
});

test("lists and nested values are written out, whatever they hold", () => {
  const tasks = [
    { id: "a", agent: "coder", task: "one\ntwo" },
    { id: "b", dependsOn: ["a"] },
  ];
  expect(showInput({ tasks, tools: [], limits: {}, note: null })).toBe(
    [
      "tasks:",
      "  - id: a",
      "    agent: coder",
      "    task:",
      "      one",
      "      two",
      "  - id: b",
      "    dependsOn:",
      "      - a",
      "tools: none",
      "limits: none",
      "note: none",
    ].join("\n"),
  );
  expect([showInput("plain"), showInput(null), showInput(3)]).toEqual(["plain", "none", "3"]);
});
