/** What some work gives; undefined if it throws, such as where nothing is there or somebody else was faster. */
export function tryTo<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
