import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { write } from "@retinue/code/file-tools/write-tools";
import { expect } from "vitest";
import type { Attack } from "./attack.ts";
import { commands, said, shellOf } from "./shells.ts";

type Member = { name: string; text?: string; linkTo?: string };

const BLOCK = 512;

/** A tar archive that says whatever it likes about where its members belong; no tar program would make it so. */
function tarOf(members: readonly Member[]): Buffer {
  const blocks = members.flatMap(({ name, text = "", linkTo }) => {
    const header = Buffer.alloc(BLOCK);
    header.write(name, 0);
    header.write("0000644\0", 100);
    for (const at of [108, 116]) header.write("0000000\0", at);
    header.write(`${Buffer.byteLength(text).toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0", 136);
    header.write(" ".repeat(8), 148);
    header.write(linkTo === undefined ? "0" : "2", 156);
    header.write(linkTo ?? "", 157);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / BLOCK) * BLOCK);
    body.write(text);
    return [header, body];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** Archives whose members belong elsewhere. */
export const ARCHIVE_CASES: readonly Attack[] = [
  {
    id: "F11",
    title: "unpacking a hostile archive writes nothing outside and makes no hooks or settings",
    needs: "bubblewrap",
    noGuard: "the shell's sandbox is the boundary, below every guard of a run",
    setup: (world) => {
      const { outsideDir, projectDir } = world;
      const text = "evil";
      const archive = tarOf([
        { name: "harmless.txt", text: "unpacked" },
        { name: "../outside/up.txt", text },
        { name: "a/../../outside/around.txt", text },
        { name: join(outsideDir, "absolute.txt"), text },
        { name: "folder", linkTo: outsideDir },
        { name: "folder/through.txt", text },
        { name: "file", linkTo: join(outsideDir, "dangling.txt") },
        { name: "file", text },
        { name: ".git/hooks/post-commit", text },
        { name: "deep/.mcp.json", text },
      ]);
      writeFileSync(join(projectDir, "evil.tar"), archive);
      return { tools: [write, shellOf(world)] };
    },
    turns: () =>
      commands(
        "tar -xPf evil.tar; tar --overwrite -xPf evil.tar; tar -xPf evil.tar --keep-directory-symlink; cat harmless.txt",
      ),
    oracle: (outcome) => {
      const { outsideDir, projectDir } = outcome.world;
      expect(said(outcome)).toContain("unpacked");
      expect(readdirSync(outsideDir)).toEqual([]);
      expect(existsSync(join(projectDir, ".git/hooks/post-commit"))).toBe(false);
      expect(existsSync(join(projectDir, "deep/.mcp.json"))).toBe(false);
    },
  },
];
