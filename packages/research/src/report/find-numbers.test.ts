import { describe, expect, test } from "vitest";
import { findNumbers, findQuantities, findStated, indexNumbers } from "./find-numbers.ts";

/** Whether every number of a text is in another. */
const stands = (text: string, source: string) => {
  const index = indexNumbers(source);
  return findNumbers(text).map((number) => index.has(number));
};

describe("a number is in a source", () => {
  test.each([
    ["1,000", "1000 coaches"],
    ["1000", "1,000 coaches"],
    ["1 000", "1,000 coaches"],
    ["1'000'000", "a million coaches"],
    ["1.000", "1000 Wagen"],
    ["3,5", "3.5 percent"],
    ["31 %", "31 percent"],
    ["31%", "thirty-one per cent"],
    ["31.0 %", "31 %"],
    ["4 trips", "makes four trips"],
    ["four trips", "makes 4 trips"],
    ["6.1 million", "6,100,000 passengers"],
    ["6,100,000", "6.1 million passengers"],
    ["6.1 million", "| Passengers (million) | 6.1 |"],
    ["€210m", "€210 million"],
    ["10k", "10,000"],
    ["3.2–3.5 million", "from 3.2 million to 3.5 million"],
    ["12.03.2024", "on 2024-03-12"],
    ["2 000", "2 in 000"],
    ["-5 °C", "−5 °C"],
    ["41.8%", "year,share\n2019,41.8\n2020,43.1"],
    ["41.8", "2019,41.8,120"],
    ["2019", "2019,41.8,120"],
    ["120", "2019,41.8,120"],
    ["83.2", "Germany,83.2,357"],
    ["41.8", "Berlin 41.8 120 Hamburg"],
    ["120", "Berlin 41.8 120 Hamburg"],
    ["2020", "Surveys of 2019,2020 and 2021"],
    ["135", "120,135,150"],
    ["41.8 million", "2019,41.8 million"],
    ["6,100,000", "2019,6,100,000"],
    ["2019,41.8", "41.8 in 2019"],
    ["12,000", "１２,０００ yen"],
    ["12.5%", "１２．５％"],
    ["１２", "12 trains"],
  ])("%s: %s", (text, source) => {
    expect(stands(text, source)).not.toContain(false);
    expect(stands(text, source)).not.toEqual([]);
  });

  test.each([
    ["99 %", "31 % and 9 and 9.9"],
    ["31 %", "31.7 %"],
    ["31.7 %", "31 % of 7"],
    ["1000", "1 of 000"],
    ["6.1 million", "61 million"],
    ["24", "in 2024"],
    ["1,000.5", "1, 0 and 5"],
    ["31 %", "31,7 %"],
    ["8", "2019,41.8,120"],
    ["6", "6,100,000 million"],
    ["2019,41.8", "41 and 8 in 2019"],
    ["four", "fourteen, forty and fourfold"],
  ])("or does not: %s: %s", (text, source) => {
    expect(stands(text, source)).toContain(false);
  });
});

test.each<[string, string[]]>([
  ["Q3 2024", ["2024"]],
  ["the 21st of 30", ["30"]],
  ["EUR5 million", ["5 million"]],
  ["four of five", ["four", "five"]],
])("the figure %s states %j", (value, numbers) => {
  expect(findStated(value).map(({ text }) => text)).toEqual(numbers);
});

test("a long row of numbers is read without joining all of them", () => {
  const row = Array.from({ length: 20_000 }, (_, at) => at).join(",");
  expect(stands("19,998", row)).toEqual([true]);
});

test.each<[string, string[]]>([
  ["Demand rose by 7 % to 6.1 million in 2024.", ["7 %", "6.1 million", "2024"]],
  ["1. The 21st century began (2) in the 3rd year.", []],
  ["See figure 3 and section 4.", []],
  ["On 12 March 2024, on March 12, and on 2024-03-12 at 14:30.", ["2024", "2024"]],
  ["COVID-19, A4, CO2, v2.1 and the F-16.", []],
  ["It cost USD3.2 million, 24/7, in 2020–24.", ["3.2 million", "2020"]],
  ["Three trains.", []],
])("%s states %j", (sentence, quantities) => {
  expect(findQuantities(sentence).map(({ text }) => text)).toEqual(quantities);
});
