const begun = new Map<string, Promise<Response>>();

/** What a screen asks for first, by its address. */
const FIRST: readonly (readonly [address: RegExp, path: (id: string) => string])[] = [
  [/^\/chat\/([\w-]+)$/, (id) => `/api/sessions/${id}`],
  [/^\/trace\/([\w-]+)$/, (id) => `/api/sessions/${id}/trace`],
];

/** Asks for what the address will need while the code of its screen is still on the way. */
export function askEarly(address: string): void {
  for (const [pattern, pathOf] of FIRST) {
    const id = pattern.exec(address)?.[1];
    if (id === undefined) continue;
    const answer = fetch(pathOf(id));
    // Whoever takes it learns of a failure; if nobody does, it is nobody's.
    answer.catch(() => {});
    begun.set(pathOf(id), answer);
  }
}

/** The answer that is on its way already, for the first who asks. */
export function takeEarly(path: string): Promise<Response> | undefined {
  const answer = begun.get(path);
  begun.delete(path);
  return answer;
}
