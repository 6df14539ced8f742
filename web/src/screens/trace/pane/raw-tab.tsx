import { openedRow } from "../replay/course/run-at.ts";
import { useIsReplayed } from "../replay/replay-scope.tsx";
import { pretty } from "./result-tab.tsx";
import type { TabProps } from "./run-tabs.tsx";
import { CopyButton, Section, TextBlock } from "./section.tsx";

/** The run's row of the record. */
export function RawTab({ run, detail: { row } }: TabProps) {
  const isReplayed = useIsReplayed();
  const text = pretty(isReplayed && run.endMs === null ? openedRow(row) : row);
  return (
    <Section title="Row of the record" aside={<CopyButton text={text} label="Copy the row" />}>
      <TextBlock label="Row of the record" text={text} tall />
    </Section>
  );
}
