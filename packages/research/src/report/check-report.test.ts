import { describe, expect, test } from "vitest";
import { checkReport } from "./check-report.ts";
import type { ResearchReport } from "./report.ts";

const check = (part: Partial<ResearchReport>, content: string) => {
  const source = { url: "https://a.example/", title: "A page" };
  const report: ResearchReport = {
    title: "A report",
    extractive: false,
    summary: [],
    figures: [],
    charts: [],
    themes: [],
    quotes: [],
    contradictions: [],
    sources: [source],
    unread: [],
    method: [],
    extractedAt: "2026-01-01T00:00:00Z",
    ...part,
  };
  return checkReport(report, [{ ...source, content, status: "success" }]).faults;
};
const checkFigure = (value: string, content: string) =>
  check({ figures: [{ value, about: { text: "What it says", cites: [1] } }] }, content);
const checkQuote = (text: string, content: string) =>
  check({ quotes: [{ text, speaker: "Somebody", cites: [1] }] }, content);

test("of a figure with the name of a period, only the numbers must be in the source", () => {
  expect(checkFigure("Q3 2024", "In the third quarter of 2024 sales rose.")).toEqual([]);
  expect(checkFigure("Q3 2023", "In the third quarter of 2024 sales rose.")).toHaveLength(1);
});

describe("a quotation is in its source whatever marks are set around its words", () => {
  test.each([
    ["We will win... soon", "We will win… soon."],
    ["We will win … soon", "We will win ... soon."],
    ["They co-operate", "They co\u2011operate now."],
    ["The company grew fast", "The com\u00adpany grew fast."],
    ["The city grew fast", "The city[3] grew fast."],
    ["The city grew fast", "The city [3, 4] grew[5–7] fast[citation needed]."],
    ["The city[3] grew fast", "The city grew fast."],
    ["We won!", "“We won”, she said."],
    ["We won?!", "We won and went home."],
    ["We won", "We won!"],
  ])("%s: %s", (text, source) => {
    expect(checkQuote(text, source)).toEqual([]);
  });

  test.each([
    ["We won", "We lost!"],
    ["We will … win", "We will, with luck, win."],
    ["The city grew 3 fast", "The city[3] grew fast."],
    ["!", "We won!"],
  ])("or does not: %s: %s", (text, source) => {
    expect(checkQuote(text, source)).toHaveLength(1);
  });
});
