import { expect, expectTypeOf, test } from "vitest";
import { checkJson } from "./check-json.ts";
import {
  byName,
  declared,
  filledText,
  flag,
  list,
  number,
  oneOf,
  orNull,
  shape,
  type TypeIn,
  text,
  whole,
} from "./shape.ts";

const Ticket = shape({
  id: filledText(8),
  state: oneOf("open", "closed"),
  "votes?": whole,
  owner: orNull(text),
  tags: list(text, { maxItems: 2 }),
  marks: byName(number),
  "more?": shape({ isUrgent: flag }),
  run: declared<{ seq: number }>(),
});
type Ticket = TypeIn<typeof Ticket>;

const ticket: Ticket = { id: "a", state: "open", owner: null, tags: [], marks: { x: 0.5 }, run: { seq: 1 } };

test("a shape is a plain JSON Schema in which a name with a question mark need not be there", () => {
  expect(shape({ id: text, "votes?": whole })).toEqual({
    type: "object",
    properties: { id: { type: "string" }, votes: { type: "integer" } },
    required: ["id"],
    additionalProperties: false,
  });
});

test("the type of a shape is what its schema says", () => {
  expectTypeOf<Ticket>().toEqualTypeOf<{
    readonly id: string;
    readonly state: "open" | "closed";
    readonly votes?: number | undefined;
    readonly owner: string | null;
    readonly tags: readonly string[];
    readonly marks: Readonly<Record<string, number>>;
    readonly more?: { readonly isUrgent: boolean } | undefined;
    readonly run: { seq: number };
  }>();
});

test.each<[string, object, RegExp | null]>([
  ["fits", ticket, null],
  ["fits with what may be left out", { ...ticket, votes: 2, more: { isUrgent: true } }, null],
  ["has an empty id", { ...ticket, id: " " }, /id/],
  ["has another word", { ...ticket, state: "lost" }, /state/],
  ["counts by halves", { ...ticket, votes: 1.5 }, /votes/],
  ["has too many tags", { ...ticket, tags: ["a", "b", "c"] }, /tags/],
  ["has a name that nobody knows", { ...ticket, colour: "red" }, /colour is not known here/],
  ["lacks its owner", { ...ticket, owner: undefined }, /owner/],
])("a value that %s is told apart", async (_, value, fault) => {
  const faults = await checkJson(Ticket, JSON.parse(JSON.stringify(value)));
  if (fault) expect(faults.join()).toMatch(fault);
  else expect(faults).toEqual([]);
});
