const MAX_SHOWN = 80;

type Folder = { name: string; files: number; folders: Map<string, Folder> };

/** Folders as an indented tree with the number of files in each and below; above a limit the smallest are left out. */
export function drawFolders(paths: readonly string[], depth: number): string[] {
  const root = treeOf(paths, depth);
  const sizes = [...walk(root)].map(({ folder }) => folder.files).sort((a, b) => b - a);
  const least = sizes[MAX_SHOWN - 1] ?? 0;
  const lines: string[] = [];
  let left = 0;
  for (const { folder, level } of walk(root)) {
    if (folder.files < least || lines.length >= MAX_SHOWN) left++;
    else lines.push(`${"  ".repeat(level)}${folder.name}/ ${folder.files}`);
  }
  const own = paths.filter((path) => !path.includes("/")).length;
  return [
    ...lines,
    ...(left > 0 ? [`(${left} smaller folders left out)`] : []),
    ...(own > 0 ? [`(and ${own} beside these folders)`] : []),
  ];
}

function treeOf(paths: readonly string[], depth: number): Folder {
  const root: Folder = { name: "", files: 0, folders: new Map() };
  for (const path of paths) {
    let folder = root;
    for (const name of path.split("/").slice(0, -1).slice(0, depth)) {
      const below = folder.folders.get(name) ?? { name, files: 0, folders: new Map() };
      folder.folders.set(name, below);
      below.files++;
      folder = below;
    }
  }
  return root;
}

function* walk(folder: Folder, level = 0): Generator<{ folder: Folder; level: number }> {
  for (const below of [...folder.folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    yield { folder: below, level };
    yield* walk(below, level + 1);
  }
}
