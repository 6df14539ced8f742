import { pretty } from "./result-tab.tsx";
import type { TabProps } from "./run-tabs.tsx";
import { CopyButton, Section, TextBlock } from "./section.tsx";

/** The run's row of the record. */
export function RawTab({ detail: { row } }: TabProps) {
  const text = pretty(row);
  return (
    <Section title="Row of the record" aside={<CopyButton text={text} label="Copy the row" />}>
      <TextBlock label="Row of the record" text={text} tall />
    </Section>
  );
}
