import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "@retinue/core/schema/settings";
import type { AnyTool, HostPlaces, Tool, ToolContext } from "@retinue/core/tools/tool";
import { afterAll, expect, test } from "vitest";
import { memoryAssistant } from "../../../test/fixtures/memory-assistant.ts";
import { assistantTools, createAssistantTools } from "./assistant-tools.ts";

const root = mkdtempSync(join(tmpdir(), "retinue-assistant-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const WRITES = [
  ...["gmail_send_email", "gmail_create_draft", "gmail_reply_to_message"],
  ...["calendar_create_event", "calendar_update_event", "calendar_delete_event", "slack_post_message"],
];

test("there are the twenty tools of the four domains, and one that posts", () => {
  expect(assistantTools).toHaveLength(21);
  expect(new Set(assistantTools.map(({ name }) => name)).size).toBe(21);
  const groups = new Set(assistantTools.flatMap((tool) => tool.groups));
  expect([...groups]).toEqual(["email", "calendar", "contacts", "slack"]);
});

test("every tool takes exactly its own fields, and says what it is for", () => {
  for (const tool of assistantTools) {
    expect(tool.input).toMatchObject({ type: "object", additionalProperties: false });
    expect(tool.description.length).toBeGreaterThan(60);
  }
});

test("every write can be looked up and shown, every read may run again", () => {
  for (const tool of createAssistantTools(memoryAssistant().assistant)) {
    const writes = WRITES.includes(tool.name);
    expect([tool.name, tool.replay]).toEqual([tool.name, writes ? "lookup" : "safe"]);
    expect([tool.name, tool.lookup !== undefined, tool.present !== undefined]).toEqual([
      tool.name,
      writes,
      writes,
    ]);
    if (!writes) expect([tool.risk, tool.outbound]).toEqual(["low", false]);
  }
});

/** What a read needs of a run. */
const reading = { signal: new AbortController().signal } as ToolContext;
const contactsSearch = (tools: readonly AnyTool[]) =>
  tools.find(({ name }) => name === "contacts_search") as Tool<object> | undefined;

test("without settings the tools are not offered and fail as tools do", async () => {
  const tool = contactsSearch(assistantTools);
  expect(tool?.offered).toBe(false);
  expect(await tool?.execute({}, reading)).toMatchObject({
    isError: true,
    text: expect.stringContaining('"type":"tool_error"'),
  });
});

test("the tools of one runtime share its services, which are closed once", async () => {
  const folders = { homeDir: root, dataDir: join(root, "data"), configDir: join(root, "config") };
  const places: HostPlaces = { env: {}, ...folders };
  const settings = {} as Settings;
  const bound = assistantTools.map((tool) => tool.withSettings?.(settings, places) ?? tool);
  expect(await contactsSearch(bound)?.execute({}, reading)).toEqual({ text: '{"contacts":[],"total":0}' });
  const closings = new Set(bound.map((tool) => tool.close?.()));
  expect(closings.size).toBe(1);
  await Promise.all(closings);
});
