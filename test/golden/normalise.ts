import { createHash } from "node:crypto";
import type { Line } from "./read-record.ts";

/** A golden record: its lines, and the long texts that they name by hash. */
export type GoldenRecord = { lines: Line[]; texts: ReadonlyMap<string, string> };

/** Longer texts are kept apart, once for all scenarios. */
const INLINE_CHARS = 600;
/** Ids of the program and of the local mailbox. */
const IDS = /\b[a-z]{3}_[A-Za-z0-9]{12}\b|\b(?:sent|draft|thread|event)-[0-9a-f]{16}\b/g;
/** Parts of a frozen definition that most runs share. */
const SHARED_PARTS = new Set(["agent", "chain", "tools"]);

/** Makes lines the same on every machine and at every time: paths, ids and ports become names. */
export function normalise(
  lines: readonly Line[],
  { root, name, packageRoot }: { root: string; name: string; packageRoot: string },
): GoldenRecord {
  const ids = new Map<string, string>();
  const texts = new Map<string, string>();
  const rename = (text: string) =>
    text
      .replaceAll(`${root}/${name}`, "<home>")
      .replaceAll(root, "<root>")
      .replace(/(?:[^\s"'()]*\/)agents\/([a-z-]+\.md)/g, "<agents>/$1")
      .replaceAll(packageRoot, "<retinue>")
      .replace(IDS, (id) => nameId(id, ids))
      .replace(/127\.0\.0\.1:\d+(?:\/[a-z2-7]{16}\b|\/[a-z2-7]{1,15}$)?/g, "127.0.0.1:<port>")
      .replace(/-[0-9a-f]{10}(?=\.(?:md|html)\b)/g, "-<hash of the address>");
  const keep = (text: string) => {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    texts.set(hash, text);
    return `text:${hash}`;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") {
      const renamed = rename(value);
      return renamed.length > INLINE_CHARS ? keep(renamed) : renamed;
    }
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    if (isKept(value))
      return value.parts
        ? keep(value.parts.map((part) => keep(rename(part))).join("\n"))
        : walkText(value.text);
    return Object.fromEntries(
      entries
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, each]) => [rename(key), walk(each)]),
    );
  };
  const walkText = (text: string): unknown => {
    const snapshot = text.startsWith('{"agent":') ? (JSON.parse(text) as Record<string, unknown>) : null;
    if (!snapshot) return keep(rename(text));
    return walk(
      Object.fromEntries(
        Object.entries(snapshot).map(([key, part]) => {
          if (!SHARED_PARTS.has(key)) return [key, part];
          const show = (each: unknown) => ({ text: JSON.stringify(each, null, 1) });
          return [key, key === "chain" && Array.isArray(part) ? part.map(show) : show(part)];
        }),
      ),
    );
  };
  const named = lines.map((line) => {
    const { at, ...rest } = line;
    return { at: rename(at), ...(walk(rest) as Record<string, unknown>) };
  });
  return { lines: named, texts };
}

/** A text that is kept apart however short it is; with parts it is the list of theirs. */
function isKept(value: object): value is { text: string; parts?: readonly string[] } {
  const keys = Object.keys(value).join();
  return (keys === "text" || keys === "text,parts") && "text" in value && typeof value.text === "string";
}

function nameId(id: string, ids: Map<string, string>): string {
  const known = ids.get(id);
  if (known !== undefined) return known;
  const prefix = /^[a-z]+./.exec(id)?.[0] ?? "";
  const count = [...ids.values()].filter((each) => each.startsWith(prefix)).length;
  const given = `${prefix}${count + 1}`;
  ids.set(id, given);
  return given;
}
