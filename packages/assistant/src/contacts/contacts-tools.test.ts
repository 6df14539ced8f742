import { describe, expect, test } from "vitest";
import { memoryAssistant, person } from "../../../../test/fixtures/memory-assistant.ts";

describe("contacts_validate_email", () => {
  test.each([
    ["Dana.Ortiz@ACME.example", { email: "Dana.Ortiz@acme.example", valid: true, known: true }],
    ["new@acme.example", { valid: true, known: false }],
    ["dana@gmial.com", { valid: true, known: false, suggestion: "dana@gmail.com" }],
    ["dana@acme.exmaple", { valid: true, known: false, suggestion: "dana@acme.example" }],
    ["dana@acme", { valid: false, known: false, reason: "its domain has no ending such as .com" }],
    ["a@b.example, c@d.example", { valid: false, known: false }],
  ])("%s", async (email, expected) => {
    const world = memoryAssistant();
    const { contacts } = world;
    contacts.splice(1, 1, person("Dana Ortiz", "dana.ortiz@acme.example"));
    expect((await world.use("contacts_validate_email", { email })).data).toMatchObject(expected);
  });

  test("names the contact that has the address", async () => {
    const { data } = await memoryAssistant().use("contacts_validate_email", { email: "sam@acme.example" });
    expect(data.contact).toEqual({ contact_id: "Sam Whitfield", name: "Sam Whitfield" });
  });

  test("warns of a domain that only looks like a known one", async () => {
    const { data } = await memoryAssistant().use("contacts_validate_email", { email: "sam@аcme.example" });
    expect(data.reason).toContain("looks like acme.example");
  });
});

test("contacts_search gives only the wanted fields", async () => {
  const world = memoryAssistant();
  const { data } = await world.use("contacts_search", { name: "Dana", fields: ["email"] });
  expect(data).toEqual({
    contacts: [{ contact_id: "Dana Ortiz", name: "Dana Ortiz", email: "dana.ortiz@acme.example" }],
    total: 1,
  });
});

test("contacts_get_by_id gives the members of a list", async () => {
  const { data } = await memoryAssistant().use("contacts_get_by_id", { contact_id: "team" });
  expect(data.contact).toMatchObject({ members: ["priya@retinue.example", "jonas@retinue.example"] });
});

test("contacts_list_organizations counts people, and finds by a part of the name", async () => {
  const world = memoryAssistant();
  const organizations = [{ name: "Acme Corp", contacts: 2 }];
  expect((await world.use("contacts_list_organizations", { query: "acme" })).data).toEqual({
    organizations,
    total: 1,
  });
  expect((await world.use("contacts_list_organizations", { query: "zeta" })).data).toMatchObject({
    total: 0,
  });
});
