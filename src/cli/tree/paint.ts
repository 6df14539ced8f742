/** Colours by what they mean; each returns the text as it is where there are none. */
export type Paint = Readonly<
  Record<"bold" | "dim" | "good" | "bad" | "warn" | "busy", (text: string) => string>
>;

const CODES = { bold: [1, 22], dim: [2, 22], good: [32, 39], bad: [31, 39], warn: [33, 39], busy: [36, 39] };

/** Whether to colour what goes to a terminal; `NO_COLOR` and a terminal that can nothing are honoured. */
export function hasColour(env: NodeJS.ProcessEnv): boolean {
  return !env.NO_COLOR && env.TERM !== "dumb";
}

/** Creates the colours, or none. */
export function createPaint(coloured: boolean): Paint {
  const painter =
    ([on = 0, off = 0]: readonly number[]) =>
    (text: string) =>
      coloured && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: painter(CODES.bold),
    dim: painter(CODES.dim),
    good: painter(CODES.good),
    bad: painter(CODES.bad),
    warn: painter(CODES.warn),
    busy: painter(CODES.busy),
  };
}
