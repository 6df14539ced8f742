/** A file that Node runs in a thread or process of its own. */
export type ProgramFile = {
  url: URL;
  /** What Node must be told to run it. */
  nodeArgs: string[];
};

/** Locates the program `name` beside a module: TypeScript in the sources, which use each other's sources, JavaScript once built. */
export function locateProgram(name: string, moduleUrl: string): ProgramFile {
  const isSource = moduleUrl.endsWith(".ts");
  return {
    url: new URL(`.//${name}.${isSource ? "ts" : "js"}`, moduleUrl),
    nodeArgs: isSource ? ["--conditions=retinue-source"] : [],
  };
}
