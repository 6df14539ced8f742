/** Names in one line; of more than `most` only the first ones, and that there are more. */
export function listSome(names: readonly string[], most = 5): string {
  return `${names.slice(0, most).join(", ")}${names.length > most ? " and more" : ""}`;
}
