import { expect, test } from "vitest";
import { narrowWeb, wideningInWeb } from "./narrow-web.ts";

test("a project may make pages smaller, and neither larger nor open private hosts", () => {
  const user = { allowHosts: ["wiki.corp"], maxPageMb: 5 };
  expect(narrowWeb(user, { maxPageMb: 2 })).toEqual({ ...user, maxPageMb: 2 });
  expect(narrowWeb(user, { maxPageMb: 50, allowHosts: ["10.0.0.1"], userAgent: "other" })).toEqual(user);
  expect(wideningInWeb({ maxPageMb: 1, allowHosts: [], userAgent: "x" })).toEqual([
    "allowHosts",
    "userAgent",
  ]);
});
