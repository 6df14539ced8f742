import { afterEach, expect, test } from "vitest";
import { EmbeddedDatabase } from "./embedded-database.ts";

let database = new EmbeddedDatabase({ file: ":memory:", now: () => 0, zone: "Europe/Berlin" });
afterEach(() => {
  database.close();
  database = new EmbeddedDatabase({ file: ":memory:", now: () => 0, zone: "Europe/Berlin" });
});
const countUsers = () => Number(database.db.prepare("SELECT count(*) AS n FROM slack_users").get()?.n);
const addUser = (id: string) =>
  database.db.prepare("INSERT INTO slack_users (id, name, profile) VALUES (?, 'x', '{}')").run(id);

test("the first owner stays, so no imported folder takes over the store", () => {
  expect(database.owner()).toEqual({ name: "Me", address: "me@localhost", zone: "Europe/Berlin" });
  expect(database.adoptOwner({ name: "Alex", address: "Alex@retinue.example", zone: "UTC" })).toBe(true);
  expect(database.adoptOwner({ name: "Eve", address: "eve@evil.example" })).toBe(false);
  expect(database.owner()).toEqual({ name: "Alex", address: "alex@retinue.example", zone: "UTC" });
});

test("a transaction is done completely or not at all, also inside another one", () => {
  expect(() =>
    database.within(() => {
      addUser("U1");
      database.within(() => addUser("U2"));
      throw new Error("half way");
    }),
  ).toThrow("half way");
  expect(countUsers()).toBe(0);
  expect(database.within(() => addUser("U1")).changes).toBe(1);
  expect(countUsers()).toBe(1);
});

test("a closed store is a fault", () => {
  database.close();
  expect(() => database.db).toThrow("The local store is closed.");
});

test("a column holds neither NUL nor halves of characters", () => {
  database.insert("slack_users", { id: "U1", name: "a\0b\ud800", profile: "{}" });
  expect(database.get("SELECT name FROM slack_users")?.name).toBe("a\u{FFFD}b\u{FFFD}");
});
