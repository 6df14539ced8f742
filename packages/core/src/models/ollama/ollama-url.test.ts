import { expect, test } from "vitest";
import { ollamaUrl } from "./ollama-url.ts";

test.each([
  ["http://127.0.0.1:11434", "http://127.0.0.1:11434"],
  ["box", "http://box:11434"],
  ["box:8080", "http://box:8080"],
  [":8080", "http://127.0.0.1:8080"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["[::]:1234", "http://127.0.0.1:1234"],
  ["https://models.example", "https://models.example"],
  ["http://box/v1/", "http://box"],
  ["http://box:11434/api", "http://box:11434"],
  ["box:80", "http://box"],
  [" box ", "http://box:11434"],
  ["no address", "no address"],
])("the server %j is at %s", (given, url) => {
  expect(ollamaUrl(given)).toBe(url);
});
