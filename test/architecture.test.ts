import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const packages = fileURLToPath(new URL("../packages", import.meta.url));

type Manifest = {
  name: string;
  private?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
};

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Packages that are not part of the program: the web app is built into files. */
const BUILT_APART = ["web"];

const names = readdirSync(packages);
/** Everything but tests; with the contracts that tests run. */
const written = names.flatMap((name) =>
  readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => join(name, "src", file)),
);
/** The sources of the program. */
const files = written.filter((file) => !/-contract\.ts$|[/\\]contract[/\\]/.test(file));
const read = (file: string) => readFileSync(join(packages, file), "utf8");

/** What a file imports, as it is written. */
function findImports(file: string): string[] {
  return [...read(file).matchAll(/(?:^import|\bfrom) "([^"\n]+)";$|\bimport\(\s*"([^"]+)"/gm)].flatMap(
    ([, path, late]) => path ?? late ?? [],
  );
}

const packageOf = (specifier: string) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

test("a package imports only what its package.json names", () => {
  const wrong = files.flatMap((file) => {
    const [name = ""] = file.split("/");
    const { dependencies = {}, ...manifest } = readManifest(join(packages, name));
    return findImports(file)
      .filter((path) => !path.startsWith(".") && !path.startsWith("node:") && !builtinModules.includes(path))
      .map(packageOf)
      .filter((used) => used !== manifest.name && !(used in dependencies))
      .map((used) => `${file} imports ${used}`);
  });
  expect(wrong).toEqual([]);
});

test("a package names only what it imports", () => {
  const unused = names
    .filter((name) => !BUILT_APART.includes(name))
    .flatMap((name) => {
      const own = files.filter((file) => file.startsWith(`${name}/`));
      const used = new Set(own.flatMap(findImports).map(packageOf));
      const { dependencies = {} } = readManifest(join(packages, name));
      // Types are needed by other types.
      const idle = Object.keys(dependencies).filter((each) => !used.has(each) && !each.startsWith("@types/"));
      return idle.map((each) => `${name} names ${each}`);
    });
  expect(unused).toEqual([]);
});

test("no file reaches into another package by its path", () => {
  const wrong = files.filter((file) => {
    const [name = ""] = file.split("/");
    return findImports(file).some(
      (path) =>
        path.startsWith(".") &&
        relative(join(packages, name), resolve(dirname(join(packages, file)), path)).startsWith(".."),
    );
  });
  expect(wrong).toEqual([]);
});

test("what the program needs when it runs is what its packages need, in the same versions", () => {
  const { dependencies } = readManifest(join(packages, ".."));
  const needed = names
    .filter((name) => !BUILT_APART.includes(name))
    .flatMap((name) => Object.entries(readManifest(join(packages, name)).dependencies ?? {}))
    .filter(([name]) => !name.startsWith("@retinue/"));
  expect(dependencies).toEqual(Object.fromEntries(needed));
});

/** The folders of the core, in layers: the vocabulary, the parts, the kernel, the features on it, and what puts them together. */
const LAYERS = [
  ...["schema", "show", "text", "files", "net", "redact"],
  ...["agents", "rights", "budget", "tools", "git", "record", "models", "settings"],
  ...["run", "delegate", "session"],
  ...["intent", "changes", "plan"],
  ...["host", "replay", "trace", "runtime", "testing"],
];

test("in the core a folder imports only from folders above it", () => {
  const wrong = files.flatMap((file) => {
    const [name, , folder = ""] = file.split("/");
    if (name !== "core" || folder.endsWith(".ts")) return [];
    return findImports(file)
      .filter((path) => path.startsWith("."))
      .map((path) => relative(join(packages, "core", "src"), resolve(dirname(join(packages, file)), path)))
      .map((path) => path.split("/")[0] ?? "")
      .filter((to) => to !== folder && !(LAYERS.includes(to) && LAYERS.indexOf(to) < LAYERS.indexOf(folder)))
      .map((to) => `${file} imports ${to}`);
  });
  expect(wrong).toEqual([]);
});

test("no file imports itself by way of others, types counted", () => {
  expect(findCircles(new Map(files.map((file) => [file, findOwnImports(file)])))).toEqual([]);
});

/** The files of the same package that a file imports, also for their types alone. */
function findOwnImports(file: string): string[] {
  return findImports(file)
    .filter((path) => path.startsWith("."))
    .map((path) => relative(packages, resolve(dirname(join(packages, file)), path)))
    .filter((path) => files.includes(path));
}

/** Circles among files: each file that leads back to itself, with the way. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" > "));
    if (way.includes(file) || done.has(file)) return;
    for (const to of imports.get(file) ?? []) visit(to, [...way, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return circles;
}

/** Names of folders that say what they hold wherever they are. */
const EVERYWHERE = ["src", "prompts"];

test("no two folders have one name", () => {
  const places = new Map<string, Set<string>>();
  for (const file of files)
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      const name = basename(folder);
      places.set(name, (places.get(name) ?? new Set()).add(folder));
    }
  const twice = [...places].filter(([name, own]) => own.size > 1 && !EVERYWHERE.includes(name));
  expect(twice).toEqual([]);
});

test("the web app knows the rest of the project only by the vocabulary and by how it is shown", () => {
  const wrong = files
    .filter((file) => file.startsWith("web/"))
    .flatMap((file) =>
      findImports(file)
        .filter((path) => path.startsWith("@retinue/") && !/^@retinue\/core\/(?:schema|show)\//.test(path))
        .map((path) => `${file} imports ${path}`),
    );
  expect(wrong).toEqual([]);
});

test("no name is exported by two files", () => {
  const owners = new Map<string, Set<string>>();
  for (const file of written)
    for (const [, name = ""] of read(file).matchAll(
      /^export (?:async |abstract |declare )?(?:function\*?|const|class|type|interface) (\w+)/gm,
    ))
      owners.set(name, (owners.get(name) ?? new Set()).add(file));
  expect([...owners].filter(([, own]) => own.size > 1)).toEqual([]);
});

test("no regular expression changes its flags on the way: V8 forgets that under load", () => {
  const changing = files.filter((file) =>
    /\(\?-?[ims]+(?:-[ims]+)?:/.test(read(file).replaceAll("`(?i:…)`", "")),
  );
  expect(changing).toEqual([]);
});

test("the way to a run loads no schema library", () => {
  const heavy = files.filter((file) => /^import (?!type)[^;]*from "(zod|ajv)"/m.test(read(file)));
  expect(heavy).toEqual([]);
});

test("a prompt is named from the file beside its folder: the bundles keep all prompts in one folder beside them", () => {
  const wrong = files.flatMap((file) =>
    [...read(file).matchAll(/new URL\(["`]([^"`]*prompts\/[^"`]*)["`]/g)]
      .filter(([, path = ""]) => !/^\.\/prompts\/[^/]+$/.test(path))
      .map(([, path]) => `${file} names ${path}`),
  );
  expect(wrong).toEqual([]);
});
