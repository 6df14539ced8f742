import { readFileSync } from "node:fs";

const loaded = new Map<string, string>();
/** Where the prompts of the loop are, by name: making an address costs more than filling in a prompt. */
const files = new Map<string, URL>();

/** A prompt of the loop itself. */
export function loopPrompt(name: string, values?: Readonly<Record<string, string>>): string {
  const file = files.get(name) ?? new URL(`./prompts/${name}.md`, import.meta.url);
  files.set(name, file);
  return loadPrompt(file, values);
}

/** A prompt that stands as a Markdown file beside the code, with its {{names}} filled in. */
export function loadPrompt(file: URL, values: Readonly<Record<string, string>> = {}): string {
  let text = loaded.get(file.href);
  if (text === undefined) {
    text = readFileSync(file, "utf8").trimEnd();
    loaded.set(file.href, text);
  }
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}
