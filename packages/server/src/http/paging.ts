import { digits, shape, type TypeIn } from "@retinue/core/schema/shape";

/** The query of a list that is read page by page. */
export const PAGED = shape({ "after?": digits, "limit?": digits });

/** How many items a page holds: as many as the query says, at least one and at most `most`. */
export function readPageSize(limit: string | undefined, usual: number, most = usual): number {
  return limit === undefined ? usual : Math.min(most, Math.max(1, Number(limit)));
}

/** Where a page begins, and how many items it holds. */
export function readPaging(
  { after, limit }: TypeIn<typeof PAGED>,
  usual: number,
  most = usual,
): { after: number; limit: number } {
  return { after: Number(after ?? 0), limit: readPageSize(limit, usual, most) };
}

/** The items of a page, and where the next one begins. `found` has one item more than `limit` if there are more. */
export function cutPage<Item>(
  found: readonly Item[],
  limit: number | undefined,
  place: (last: Item) => number,
): { page: readonly Item[]; next: number | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { page, next: last !== undefined && found.length > page.length ? place(last) : null };
}
