import { expect, test } from "vitest";
import { readOutputComplaint } from "./output-complaint.ts";

test.each([
  [
    "max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.",
    4_096,
  ],
  [
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
    8_192,
  ],
  [
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    8_192,
  ],
  ["Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192],
  [
    "it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).",
    65_536,
  ],
  [
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
    4_096,
  ],
  ["max_new_tokens cannot be more than 2,048: the maximum is 2,048", 2_048],
  ["max_completion_tokens is too large", null],
  ["max_tokens exceeds what this deployment allows", null],
])("%s", (message, most) => {
  expect(readOutputComplaint(`work/big at 127.0.0.1:8080 answered 400: ${message}`)).toEqual({ most });
});

test.each([
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens`",
  "Unsupported parameter: 'max_tokens' is not supported with this model.",
  "temperature must be at most 2",
  "no such model",
])("another complaint is not taken for one of a reply's length: %s", (message) => {
  expect(readOutputComplaint(message)).toBeNull();
});
