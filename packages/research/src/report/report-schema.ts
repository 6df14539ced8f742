import { list, type Shape, shape, type TypeIn, textWith } from "@retinue/core/schema/shape";

const text = (maxLength: number) => textWith({ minLength: 1, maxLength });
const upTo = <Type>(items: Shape<Type>, maxItems: number) => list(items, { maxItems });
const sourceNumber: Shape<number> = { type: "integer", minimum: 1 };
const sources = list(sourceNumber, { minItems: 1, maxItems: 50 });
const amount: Shape<number> = { type: "number", minimum: 0 };
const address: Shape<string> = {
  ...text(4_000),
  description: "Addresses from the corpus, in the order of their numbers.",
};

/** A report as a model gives it: [n] in its texts is the n-th source, of the pages that were read if it names none. */
export const REPORT_SCHEMA = shape({
  title: text(300),
  summary: upTo(text(3_000), 20),
  themes: upTo(shape({ heading: text(300), paragraphs: upTo(text(8_000), 40) }), 30),
  "figures?": upTo(shape({ value: text(60), about: text(600), sources }), 40),
  "charts?": upTo(
    shape({
      title: text(200),
      bars: upTo(shape({ label: text(120), value: amount, "shown?": text(40) }), 20),
      sources,
    }),
    10,
  ),
  "quotes?": upTo(
    shape({ text: text(2_000), speaker: text(200), "role?": text(200), source: sourceNumber }),
    30,
  ),
  "contradictions?": upTo(
    shape({
      topic: text(300),
      "note?": text(1_000),
      claims: upTo(shape({ text: text(2_000), sources }), 10),
    }),
    20,
  ),
  "sources?": upTo(address, 100),
});

/** What fits `REPORT_SCHEMA`. */
export type GivenReport = TypeIn<typeof REPORT_SCHEMA>;
