import type { PlanStep } from "@retinue/core/schema/plan";

type Linked = Pick<PlanStep, "id" | "dependsOn">;

/**
 * Steps in waves: those of one wave wait only for steps of waves before it, so that they can run at once. A draft may be wrong:
 * steps that wait for each other in a circle stand in a last wave together, and needs that are no step count for nothing.
 */
export function sortIntoWaves<Step extends Linked>(steps: readonly Step[]): Step[][] {
  const ids = new Set(steps.map(({ id }) => id));
  const placed = new Set<string>();
  const waves: Step[][] = [];
  let left = [...steps];
  while (left.length > 0) {
    const ready = left.filter(({ id, dependsOn }) =>
      dependsOn.every((needed) => needed === id || placed.has(needed) || !ids.has(needed)),
    );
    const wave = ready.length > 0 ? ready : left;
    for (const { id } of wave) placed.add(id);
    waves.push(wave);
    left = left.filter((step) => !wave.includes(step));
  }
  return waves;
}

/**
 * Where the steps of each wave stand, in half widths of a card: each below the middle of what it waits for, so that lines do not
 * run behind other cards where that can be helped.
 */
export function assignColumns(waves: readonly (readonly Linked[])[]): ReadonlyMap<string, number> {
  const width = 2 * Math.max(0, ...waves.map((wave) => wave.length));
  const columns = new Map<string, number>();
  for (const wave of waves) {
    const wanted = wave
      .map(({ id, dependsOn }, index) => {
        const above = dependsOn.flatMap((needed) => columns.get(needed) ?? []);
        const middle = above.reduce((sum, column) => sum + column, 0) / above.length;
        return { id, at: above.length > 0 ? Math.round(middle) : width / 2 - wave.length + 2 * index };
      })
      .toSorted((one, other) => one.at - other.at);
    let free = 0;
    for (const [index, { id, at }] of wanted.entries()) {
      const last = width - 2 * (wanted.length - index);
      const column = Math.min(last, Math.max(free, at));
      columns.set(id, column);
      free = column + 2;
    }
  }
  return columns;
}

/** The needs of each step that no other of its needs implies: enough to draw. */
export function directNeeds(steps: readonly Linked[]): ReadonlyMap<string, readonly string[]> {
  const needs = new Map(steps.map(({ id, dependsOn }) => [id, dependsOn]));
  const reaches = (from: string, to: string, seen: Set<string>): boolean => {
    if (seen.has(from)) return false;
    seen.add(from);
    return (needs.get(from) ?? []).some((next) => next === to || reaches(next, to, seen));
  };
  return new Map(
    steps.map(({ id, dependsOn }) => [
      id,
      dependsOn.filter(
        (needed) => !dependsOn.some((other) => other !== needed && reaches(other, needed, new Set([id]))),
      ),
    ]),
  );
}
