import type { Desk } from "./engine.ts";

/** Runs a command of the program in this project and gives what it says; nobody is asked anything. */
export async function captureCommand({ terminal, project }: Desk, args: readonly string[]): Promise<string> {
  const { runCli } = await import("../../run-cli.ts");
  const lines: string[] = [];
  const take = (text: string) => void lines.push(text);
  const captured = {
    ...terminal,
    cwd: project.projectDir,
    interactive: false,
    hasScreen: false,
    columns: null,
    screen: undefined,
    print: take,
    tell: take,
    prompt: take,
  };
  await runCli([...args, "-C", project.projectDir], captured);
  return lines.join("\n").trimEnd();
}
