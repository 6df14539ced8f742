import { expect, test } from "vitest";
import { splitRemedy } from "./group-checks.ts";

test.each([
  ["retinue agents check", { before: "", command: "retinue agents check", after: "" }],
  [
    "sudo apt install bubblewrap   # or your system's package of that name",
    { before: "", command: "sudo apt install bubblewrap", after: "or your system's package of that name" },
  ],
  [
    "check your network, or: retinue config get providers.openai",
    { before: "check your network, or", command: "retinue config get providers.openai", after: "" },
  ],
  [
    "RETINUE_DEBUG=1 retinue doctor --json",
    { before: "", command: "RETINUE_DEBUG=1 retinue doctor --json", after: "" },
  ],
  ["try again later", { before: "try again later", command: null, after: "" }],
])("what can be copied of '%s' is its command alone", (remedy, parts) => {
  expect(splitRemedy(remedy)).toEqual(parts);
});
