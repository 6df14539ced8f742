import { showInput } from "../../../schema/show-input.ts";
import { exactText, plainLine, plainText } from "../../plain-text.ts";
import type { Entry } from "../state/entry.ts";
import type { Key } from "../state/keys.ts";
import type { Asked } from "../tui-state.ts";

/** What is said of a piece of the conversation; nothing of what the person wrote or progress has told. */
export function describeEntry(entry: Entry): string[] {
  switch (entry.kind) {
    case "person":
      return entry.to ? [`message to ${entry.to.agent}: ${entry.to.fate}`] : [];
    case "agent":
      return [`${entry.agent}:`, ...plainText(entry.text).trimEnd().split("\n")];
    case "notice":
      return [`${entry.level}: ${plainLine(entry.text, 2_000)}`];
    case "output":
      return plainText(entry.text).trimEnd().split("\n");
    default:
      return [];
  }
}

/** A question in full, and how to answer it. */
export function describeAsked({ request, diff }: Asked): string[] {
  const { chain, tool, risk, reason, presented, input, tainted } = request;
  return [
    `approval needed: ${chain.map((name) => plainLine(name, 60)).join(" > ")} asks for ${plainLine(tool, 80)}`,
    `risk: ${risk}${tainted ? ", and untrusted text has entered this run" : ""}`,
    `reason: ${plainLine(reason, 500)}`,
    ...exactText(diff ?? presented ?? showInput(input)).split("\n"),
    "answer y for once, a for this run, or n and why not:",
  ];
}

/** The keys of a line that answers a question; an empty one answers nothing. */
export function answerKeys(line: string): Key[] {
  const [, letter = "", note = ""] = /^\s*([yan])(?:es|o|lways)?\b\s*(.*)$/i.exec(line) ?? [];
  if (letter === "") return [];
  const key: Key = { name: "text", text: letter.toLowerCase() };
  if (letter.toLowerCase() !== "n") return note === "" ? [key] : [];
  return [key, ...(note === "" ? [] : [{ name: "text", text: note } as const]), { name: "enter" }];
}
