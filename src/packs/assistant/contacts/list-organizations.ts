import type { Tool } from "../../../tools/tool.ts";
import { readTool } from "../tool/service-tool.ts";
import type { Desk } from "../tool/services.ts";
import { cutText, fitItems } from "../tool/tool-output.ts";

type OrganizationsInput = { query?: string; limit?: number };

/** The tool `contacts_list_organizations`. */
export function listOrganizations(desk: Desk): Tool<OrganizationsInput> {
  return readTool<OrganizationsInput>(desk, {
    name: "contacts_list_organizations",
    description:
      "Lists the organisations that people in the address book belong to, those with most people first, with the number of contacts of each. For the people themselves use contacts_search with organization.",
    group: "contacts",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 300, description: "A part of the name." },
      limit: { type: "integer", minimum: 1, maximum: 500, description: "50 by default." },
    },
    run: async ({ query = "", limit = 50 }, services) => {
      const all = await services.contacts((book, signal) => book.organizations(signal));
      const wanted = query.trim().toLowerCase();
      const matching = all
        .filter(({ name }) => name.toLowerCase().includes(wanted))
        .toSorted((a, b) => b.contacts - a.contacts || (a.name < b.name ? -1 : 1));
      const build = (kept: readonly (typeof matching)[number][]) => ({
        organizations: kept.map(({ name, contacts }) => ({ name: cutText(name, 300), contacts })),
        total: matching.length,
      });
      return { data: fitItems(matching.slice(0, limit), build) };
    },
  });
}
