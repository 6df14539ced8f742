import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReadStream } from "node:tty";
import { expect, test } from "vitest";
import { guardScreen } from "./start-tui.ts";

test("repainting covers the whole screen, takes the keys again, and stops once the terminal is given back", () => {
  const dir = mkdtempSync(join(tmpdir(), "retinue-guard-"));
  const fd = openSync(join(dir, "screen"), "w+");
  const modes: boolean[] = [];
  const stdin: ReadStream = Object.create(ReadStream.prototype, {
    isTTY: { value: true },
    setRawMode: { value: (mode: boolean) => modes.push(mode) },
  });
  try {
    const screen = guardScreen(stdin, fd);
    screen.repaint(["one", "two"], { x: 2, y: 0 });
    screen.repaint(["one", "two"], null);
    const blank = "\u001b[2J\u001b[H";
    const written = () => readFileSync(join(dir, "screen"), "utf8");
    expect(written()).toBe(`${blank}one\r\ntwo\u001b[1;3H${blank}one\r\ntwo\u001b[2;1H`);
    expect(modes).toEqual([true, false, true, false, true]);
    screen.restore();
    const restored = written();
    screen.repaint(["three"], null);
    expect(written()).toBe(restored);
    expect(modes.at(-1)).toBe(false);
  } finally {
    closeSync(fd);
    rmSync(dir, { recursive: true });
  }
});
