declare global {
  /** What the head of the page has asked for already (`begin.js`). */
  var retinueEarly: { path: string; answer: Promise<Response> } | undefined;
}

/** The answer that is on its way already, for the first who asks. */
export function takeEarly(path: string): Promise<Response> | undefined {
  const early = globalThis.retinueEarly;
  if (early?.path !== path) return undefined;
  globalThis.retinueEarly = undefined;
  return early.answer;
}
