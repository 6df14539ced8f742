import { parseObject, readObject } from "@retinue/core/schema/json-object";

/** What the files that describe a project say about it. */
export type ProjectFacts = {
  /** Name and description. */
  title?: string;
  entries: string[];
  scripts: string[];
  runners: string[];
};

/** Reads what one of these files says. */
type Reader = (text: string, facts: ProjectFacts) => void;

const MAX_VALUE = 120;
const NODE_RUNNERS = ["vitest", "jest", "mocha", "ava", "tap", "jasmine", "@playwright/test", "cypress"];

/** The files that describe a project, by name, and how each is read. */
export const MANIFESTS: Readonly<Record<string, Reader>> = {
  "package.json": readPackage,
  "deno.json": readDeno,
  "pyproject.toml": readPyproject,
  "pytest.ini": (_text, facts) => void facts.runners.push("pytest (pytest.ini)"),
  "go.mod": (text, facts) => {
    facts.title ||= /^module\s+(\S+)/m.exec(text)?.[1] ?? "";
    facts.runners.push("go test (go.mod)");
  },
  "Cargo.toml": readCargo,
  "composer.json": readComposer,
  Makefile: (text, facts) => void facts.scripts.push(...listTargets(text).map((name) => `make ${name}`)),
  justfile: (text, facts) => void facts.scripts.push(...listTargets(text).map((name) => `just ${name}`)),
  Gemfile: (text, facts) => {
    if (/["']rspec(?:-rails)?["']/.test(text)) facts.runners.push("rspec (Gemfile)");
  },
  "mix.exs": (_text, facts) => void facts.runners.push("mix test (mix.exs)"),
  "pom.xml": (_text, facts) => void facts.runners.push("mvn test (pom.xml)"),
  "build.gradle": (_text, facts) => void facts.runners.push("gradle test (build.gradle)"),
  "build.gradle.kts": (_text, facts) => void facts.runners.push("gradle test (build.gradle.kts)"),
};

/** Files that usually are where a program begins, as paths from the project's folder. */
export const USUAL_ENTRIES =
  /^(?:(?:src|lib|app|source)\/)?(?:index|main|app|server|cli|mod|lib|__main__)\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|c|cpp|php|swift|dart)$|^cmd\/[^/]+\/main\.go$|^src\/bin\/[^/]+\.rs$|^(?:manage|wsgi|asgi)\.py$|^src\/main\/.+\/(?:Main|\w*Application)\.(?:java|kt)$/;

/** Facts of which nothing is known yet. */
export function createFacts(): ProjectFacts {
  return { entries: [], scripts: [], runners: [] };
}

function readPackage(text: string, facts: ProjectFacts): void {
  const json = parseObject(text) ?? {};
  facts.title ||= readTitle(json);
  for (const key of ["main", "module", "browser"])
    if (typeof json[key] === "string") facts.entries.push(`${json[key]} (${key} of package.json)`);
  const { bin, exports } = json;
  if (typeof bin === "string") facts.entries.push(`${bin} (bin of package.json)`);
  else
    for (const [name, path] of listPairs(bin))
      facts.entries.push(`${String(path)} (bin ${name} of package.json)`);
  for (const [name, path] of listExports(exports))
    facts.entries.push(`${path} (exports ${name} of package.json)`);
  const scripts = listPairs(json.scripts);
  facts.scripts.push(...scripts.map(([name, command]) => `npm run ${name}: ${shortened(String(command))}`));
  const packages = { ...readObject(json.dependencies), ...readObject(json.devDependencies) };
  facts.runners.push(
    ...NODE_RUNNERS.filter((name) => Object.hasOwn(packages, name)).map((name) => `${name} (package.json)`),
  );
  if (scripts.some(([, command]) => /\bnode\b.* --test\b/.test(String(command))))
    facts.runners.push("node --test (package.json)");
}

function readDeno(text: string, facts: ProjectFacts): void {
  const json = parseObject(text) ?? {};
  facts.title ||= readTitle(json);
  facts.scripts.push(
    ...listPairs(json.tasks).map(([name, command]) => `deno task ${name}: ${shortened(String(command))}`),
  );
  facts.runners.push("deno test (deno.json)");
}

function readPyproject(text: string, facts: ProjectFacts): void {
  const project = readSection(text, "project");
  facts.title ||= [project.get("name"), project.get("description")].filter(Boolean).join(": ");
  for (const name of ["project.scripts", "tool.poetry.scripts"])
    for (const [script, entry] of readSection(text, name))
      facts.entries.push(`${entry} (script ${script} of pyproject.toml)`);
  if (/^\[tool\.pytest/m.test(text) || /\bpytest\b/.test(text)) facts.runners.push("pytest (pyproject.toml)");
}

function readCargo(text: string, facts: ProjectFacts): void {
  const project = readSection(text, "package");
  facts.title ||= [project.get("name"), project.get("description")].filter(Boolean).join(": ");
  for (const [, name, path] of text.matchAll(
    /^\[\[bin\]\]\s*\nname\s*=\s*"([^"\n]+)"(?:\s*\npath\s*=\s*"([^"\n]+)")?/gm,
  ))
    facts.entries.push(`${path ?? `src/bin/${name}.rs`} (bin ${name} of Cargo.toml)`);
  facts.runners.push("cargo test (Cargo.toml)");
}

function readComposer(text: string, facts: ProjectFacts): void {
  const json = parseObject(text) ?? {};
  facts.title ||= readTitle(json);
  facts.scripts.push(...listPairs(json.scripts).map(([name]) => `composer ${name}`));
  if (Object.hasOwn(readObject(json["require-dev"]), "phpunit/phpunit"))
    facts.runners.push("phpunit (composer.json)");
}

/** The targets that a person calls: no patterns, no files, no inner ones. */
function listTargets(text: string): string[] {
  const names = [...text.matchAll(/^([A-Za-z][\w-]*)(?:[ \t]+[\w="-][\w=" -]*)?[ \t]*:(?![=:])/gm)].map(
    ([, name = ""]) => name,
  );
  return [...new Set(names)];
}

/** The plain `key = "value"` lines of a section. */
function readSection(text: string, name: string): Map<string, string> {
  const begin = text.split("\n").findIndex((line) => line.trim() === `[${name}]`);
  if (begin < 0) return new Map();
  const lines = text.split("\n").slice(begin + 1);
  const end = lines.findIndex((line) => /^\s*\[/.test(line));
  return new Map(
    lines.slice(0, end < 0 ? lines.length : end).flatMap((line): [string, string][] => {
      const [, key, value] = /^\s*["']?([\w.-]+)["']?\s*=\s*["']([^"'\n]*)["']/.exec(line) ?? [];
      return key && value !== undefined ? [[key, shortened(value)]] : [];
    }),
  );
}

/** What a package offers by name: the first file that each leads to. */
function listExports(exports: unknown): [string, string][] {
  if (typeof exports === "string") return [[".", exports]];
  return listPairs(exports).flatMap(([name, value]): [string, string][] => {
    if (!name.startsWith(".")) return [];
    const path = typeof value === "string" ? value : findFirstPath(readObject(value), 0);
    return path ? [[name, path]] : [];
  });
}

function findFirstPath(conditions: Readonly<Record<string, unknown>>, depth: number): string | undefined {
  const usual = ["import", "default", "node", "require"].filter((key) => Object.hasOwn(conditions, key));
  for (const key of [...usual, ...Object.keys(conditions)]) {
    const value = conditions[key];
    if (typeof value === "string") return value;
    const below = depth < 5 ? findFirstPath(readObject(value), depth + 1) : undefined;
    if (below) return below;
  }
  return undefined;
}

function readTitle(json: Readonly<Record<string, unknown>>): string {
  const { name, version, description } = json;
  const begin = [name, version].filter((each) => typeof each === "string").join(" ");
  return typeof description === "string" ? `${begin}: ${shortened(description, 300)}` : begin;
}

function listPairs(value: unknown): [string, unknown][] {
  return Object.entries(readObject(value));
}

function shortened(text: string, limit = MAX_VALUE): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}
