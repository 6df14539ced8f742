import { defineEmulator } from "emulate";
import { refuse } from "./google-calendar-emulator.ts";

const contact = (
  id: string,
  name: string,
  email: string,
  work: { name: string; title: string },
  list?: string,
) => ({
  resourceName: `people/${id}`,
  names: [{ displayName: name, metadata: { primary: true } }],
  emailAddresses: [{ value: `old-${email}` }, { value: email, metadata: { primary: true } }],
  phoneNumbers: [{ value: "+49 30 1234567" }],
  organizations: [{ ...work, metadata: { primary: true } }],
  memberships: list
    ? [{ contactGroupMembership: { contactGroupResourceName: `contactGroups/${list}` } }]
    : [],
});

const RETINUE = { name: "Retinue", title: "Engineer" };

/** The address book that the emulator starts with. */
export const addressBook = () => ({
  people: [
    contact("c1", "Priya Nair", "priya@retinue.example", RETINUE, "team"),
    contact("c2", "Jonas Weber", "jonas@retinue.example", RETINUE, "team"),
    contact("c3", "Dana Ortiz", "dana.ortiz@acme.example", { name: "Acme Corp", title: "CTO" }),
    contact("c4", "Zoë Müller", "zoe@acme.example", { name: "ACME Corp", title: "Buyer" }),
    { resourceName: "people/c5" },
  ],
  /** How many people are on one page at most. */
  page: 1_000,
});

/** The part of Google's People API that reads an address book. */
export const peopleEmulator = defineEmulator({
  name: "google-people",
  state: addressBook,
  setup({ app, state }) {
    app.get("/v1/people/me/connections", (c) => {
      const first = Number(c.req.query("pageToken") ?? 0);
      const last = first + Math.min(state.page, Number(c.req.query("pageSize") ?? 100));
      const next = last < state.people.length ? { nextPageToken: String(last) } : {};
      return c.json({ connections: state.people.slice(first, last), ...next });
    });
    app.get("/v1/people/:id", (c) => {
      const person = state.people.find(({ resourceName }) => resourceName === `people/${c.req.param("id")}`);
      return person ? c.json(person) : refuse(404, "notFound");
    });
    app.get("/v1/contactGroups", (c) =>
      c.json({
        contactGroups: [
          { resourceName: "contactGroups/myContacts", groupType: "SYSTEM_CONTACT_GROUP", name: "myContacts" },
          { resourceName: "contactGroups/team", groupType: "USER_CONTACT_GROUP", name: "team" },
        ],
      }),
    );
  },
});
