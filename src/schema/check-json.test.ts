import { expect, test } from "vitest";
import { checkJson } from "./check-json.ts";

test.each([
  [{ exclusiveMinimum: 0 }, 0, "the value: 0 is not above 0"],
  [{ exclusiveMaximum: 2 }, 2, "the value: 2 is greater than or equal to 2"],
  [{ minimum: 1 }, 0, "the value: 0 is less than 1"],
  [{ type: "number", maximum: 5 }, Number.POSITIVE_INFINITY, "the value: Infinity is greater than 5"],
])("%j says of %d what is wrong with it", async (schema, value, message) => {
  expect(await checkJson(schema, value)).toEqual([message]);
});
