import { showCount } from "@retinue/core/show/measures";
import { describeEnd } from "@retinue/core/show/standing";
import type { ReactNode } from "react";
import { join } from "../../ui/class-names.ts";
import { AgentName } from "../../ui/face.tsx";
import { GridRow, RowGroup, RowTitle, Table, TableCell, TitleCell } from "../../ui/grid.tsx";
import { StatusBadge } from "../../ui/status.tsx";
import {
  deliverableRow,
  type FactRow,
  figureRows,
  fileRow,
  SAME,
  type SessionFacts,
  sameOrNot,
  splitFiles,
} from "./facts.ts";

const COLUMNS =
  "grid grid-cols-2 gap-x-4 md:grid-cols-[9.5rem_minmax(0,1fr)_minmax(0,1fr)_minmax(9rem,13rem)]";

/** What both sessions amount to, line by line, and what is between them. No side is called better: that depends on what was wanted. */
export function FiguresTable({ a, b }: { a: SessionFacts; b: SessionFacts }) {
  const rows = [...wordRows(a, b), ...figureRows(a, b), deliverableRow(a, b), fileRow(a, b)];
  return (
    <Table aria-label="Figures of both sessions" className="border-y border-line bg-panel">
      <RowGroup className="max-md:sr-only">
        <GridRow
          className={join(
            COLUMNS,
            "h-8 items-center border-b border-line px-4 text-2xs font-medium text-ink-3",
          )}
        >
          <TitleCell>Figure</TitleCell>
          <TitleCell>A</TitleCell>
          <TitleCell>B</TitleCell>
          <TitleCell>Difference, B against A</TitleCell>
        </GridRow>
      </RowGroup>
      <RowGroup>
        {rows.map((row) => (
          <FactLine key={row.name} {...row} />
        ))}
      </RowGroup>
    </Table>
  );
}

type FactLineProps = Omit<FactRow, "a" | "b"> & { a: ReactNode; b: ReactNode };

function wordRows(a: SessionFacts, b: SessionFacts): FactLineProps[] {
  const row = (
    name: string,
    show: (facts: SessionFacts) => ReactNode,
    read: (facts: SessionFacts) => string,
  ) => ({ name, a: show(a), b: show(b), difference: sameOrNot(read(a), read(b)) });
  const listModels = ({ models }: SessionFacts) => models.join(", ") || "none";
  const hasSeveral = a.models.length > 1 || b.models.length > 1;
  return [
    row(
      "Task",
      ({ task }) => <Words text={task} />,
      ({ task }) => task,
    ),
    row(
      "Root agent",
      ({ agent }) => <Agent name={agent} />,
      ({ agent }) => agent ?? "",
    ),
    row(hasSeveral ? "Models" : "Model", (facts) => <Words text={listModels(facts)} />, listModels),
    row(
      "Status",
      (facts) => <End facts={facts} />,
      (facts) => `${facts.standing} ${explainEnd(facts)}`,
    ),
  ];
}

function FactLine({ name, about, a, b, difference }: FactLineProps) {
  return (
    <GridRow
      className={join(
        COLUMNS,
        "items-baseline gap-y-0.5 border-b border-line/60 px-4 py-1.5 text-sm last:border-b-0",
      )}
    >
      <RowTitle title={about} className="text-xs text-ink-3 max-md:order-1">
        {name}
      </RowTitle>
      <SideCell letter="A">{a}</SideCell>
      <SideCell letter="B">{b}</SideCell>
      <TableCell
        className={join(
          "figures text-xs max-md:order-2 max-md:text-right",
          difference === SAME ? "text-ink-3" : "font-medium text-ink",
        )}
      >
        {difference}
      </TableCell>
    </GridRow>
  );
}

function SideCell({ letter, children }: { letter: "A" | "B"; children: ReactNode }) {
  return (
    <TableCell className="figures flex min-w-0 items-baseline gap-2 max-md:order-3">
      <span aria-hidden className="font-mono text-2xs text-ink-3 md:hidden">
        {letter}
      </span>
      <div className="min-w-0 wrap-anywhere">{children}</div>
    </TableCell>
  );
}

function Words({ text }: { text: string }) {
  return (
    <p title={text} className="line-clamp-3">
      {text}
    </p>
  );
}

function Agent({ name }: { name: string | null }) {
  return name === null ? <span className="text-ink-3">none yet</span> : <AgentName name={name} size="sm" />;
}

function End({ facts }: { facts: SessionFacts }) {
  const words = explainEnd(facts);
  return (
    <div className="grid justify-items-start gap-0.5">
      <StatusBadge standing={facts.standing} />
      {words && <p className="line-clamp-3 text-xs text-ink-2">{words}</p>}
    </div>
  );
}

/** Why it ended as it did, where the badge alone does not say. */
function explainEnd({ last }: SessionFacts): string {
  if (!last || last.endMs === null) return "";
  const isPlain = last.status === "completed" && !last.partial;
  return [isPlain ? "" : describeEnd(last), last.error ?? ""].filter(Boolean).join(" ");
}

const MOST_SHOWN = 200;

/** Which files only one of the sessions made or changed, and which both did. */
export function FileLists({ a, b }: { a: SessionFacts; b: SessionFacts }) {
  const { onlyA, onlyB, both } = splitFiles(a, b);
  if (onlyA.length + onlyB.length + both.length === 0) return null;
  return (
    <details className="border-b border-line bg-panel px-4 py-1.5">
      <summary className="cursor-pointer rounded text-xs font-medium text-ink-2 hover:text-ink">
        Which files
      </summary>
      <div className="grid gap-x-4 gap-y-2 py-2 sm:grid-cols-3">
        <FileList title="Only in A" files={onlyA} />
        <FileList title="Only in B" files={onlyB} />
        <FileList title="In both" files={both} />
      </div>
    </details>
  );
}

function FileList({ title, files }: { title: string; files: readonly string[] }) {
  return (
    <div className="min-w-0">
      <h3 className="text-xs text-ink-3">
        {title}: {showCount(files.length, "file")}
      </h3>
      <ul className="font-mono text-xs">
        {files.slice(0, MOST_SHOWN).map((file) => (
          <li key={file} className="wrap-anywhere">
            {file}
          </li>
        ))}
      </ul>
      {files.length > MOST_SHOWN && <p className="text-xs text-ink-3">… {files.length - MOST_SHOWN} more</p>}
    </div>
  );
}
