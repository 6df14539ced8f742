/** Tells whether texts together have every word that a person typed, in any order. */
export function createFilter(typed: string): (...texts: readonly (string | null | undefined)[]) => boolean {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return (...texts) => {
    const whole = texts.join("\n").toLowerCase();
    return words.every((word) => whole.includes(word));
  };
}
