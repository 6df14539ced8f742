import type { ComponentProps, ReactElement } from "react";

/**
 * Parts of a long grid. Only rows in sight are drawn, each at a place of its own, which table elements cannot be: so blocks
 * carry the roles instead.
 */
function part(role: string): (props: ComponentProps<"div">) => ReactElement {
  return (props) => <div {...props} role={role} />;
}

/** A grid; name it with `aria-label`. */
export const Grid = part("grid");
/** A grid whose rows are a tree. */
export const TreeGrid = part("treegrid");
/** Rows that belong together. */
export const RowGroup = part("rowgroup");
/** One row. */
export const GridRow = part("row");
/** One cell of a row. */
export const Cell = part("gridcell");
/** A table whose rows have several lines on a phone, which table elements cannot; name it with `aria-label`. */
export const Table = part("table");
/** One cell of a table. */
export const TableCell = part("cell");
/** The cell that names a row of a table. */
export const RowTitle = part("rowheader");
/** The title of a column. */
export const TitleCell = part("columnheader");
