/** A YAML scalar, quoted so that it reads back as exactly this text. */
export function quoteYaml(text: string): string {
  // Single quotes hold neither controls nor line ends; doubled backslashes read worse than single quotes.
  const printable = /^[\x20-\x7E\u00A0-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]*$/.test(text);
  if (printable && !text.includes("'") && /["\\]/.test(text)) return `'${text}'`;
  return JSON.stringify(text).replaceAll(/[\u007F-\u009F\u2028\u2029\uFEFF]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** `text` without one pair of enclosing quotes, if it has one. */
export function stripQuotes(text: string): string {
  const quote = text[0];
  const enclosed = text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return enclosed ? text.slice(1, -1) : text;
}
