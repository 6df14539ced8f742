import type { JsonSchema } from "@retinue/core/schema/json-schema";

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength }) as const;
const list = (items: object, maxItems: number) => ({ type: "array", items, maxItems }) as const;
const numbers = { type: "array", items: { type: "integer", minimum: 1 }, minItems: 1, maxItems: 50 } as const;
const object = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** A report as a model gives it: [n] in its texts is the n-th source. */
export const REPORT_SCHEMA: JsonSchema = object(
  {
    title: text(300),
    summary: list(text(3_000), 20),
    themes: list(
      object({ heading: text(300), paragraphs: list(text(8_000), 40) }, ["heading", "paragraphs"]),
      30,
    ),
    figures: list(
      object({ value: text(60), about: text(600), sources: numbers }, ["value", "about", "sources"]),
      40,
    ),
    charts: list(
      object(
        {
          title: text(200),
          bars: list(
            object({ label: text(120), value: { type: "number", minimum: 0 }, shown: text(40) }, [
              "label",
              "value",
            ]),
            20,
          ),
          sources: numbers,
        },
        ["title", "bars", "sources"],
      ),
      10,
    ),
    quotes: list(
      object(
        { text: text(2_000), speaker: text(200), role: text(200), source: { type: "integer", minimum: 1 } },
        ["text", "speaker", "source"],
      ),
      30,
    ),
    contradictions: list(
      object(
        {
          topic: text(300),
          note: text(1_000),
          claims: list(object({ text: text(2_000), sources: numbers }, ["text", "sources"]), 10),
        },
        ["topic", "claims"],
      ),
      20,
    ),
    sources: list(
      { ...text(4_000), description: "Addresses from the corpus, in the order of their numbers." },
      100,
    ),
  },
  ["title", "summary", "themes"],
);

/** What fits `REPORT_SCHEMA`. */
export type GivenReport = {
  title: string;
  summary: readonly string[];
  themes: readonly { heading: string; paragraphs: readonly string[] }[];
  figures?: readonly { value: string; about: string; sources: readonly number[] }[];
  charts?: readonly {
    title: string;
    bars: readonly { label: string; value: number; shown?: string }[];
    sources: readonly number[];
  }[];
  quotes?: readonly { text: string; speaker: string; role?: string; source: number }[];
  contradictions?: readonly {
    topic: string;
    note?: string;
    claims: readonly { text: string; sources: readonly number[] }[];
  }[];
  /** Addresses of the corpus; without them its pages that were read, in their order. */
  sources?: readonly string[];
};
