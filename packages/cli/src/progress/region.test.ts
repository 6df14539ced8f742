import fc from "fast-check";
import { expect, test } from "vitest";
import { smallScreen } from "../../../../test/fixtures/small-screen.ts";
import { createRegion } from "./region.ts";

test("lines are replaced in place, and what is written above them stays", () => {
  const screen = smallScreen({ columns: 20, rows: 10 });
  const region = createRegion(screen);
  region.draw(["one", "two"]);
  region.above("a notice");
  region.draw(["one", "2", "three"]);
  region.draw(["uno"]);
  expect(screen.lines()).toEqual(["a notice", "uno"]);
  region.clear();
  screen.write("the answer\r\n");
  expect(screen.lines()).toEqual(["a notice", "the answer"]);
});

test("a last line that stays as it is stays when those below it go", () => {
  const screen = smallScreen({ columns: 20, rows: 10 });
  const region = createRegion(screen);
  region.draw(["one", "two"]);
  region.draw(["one"]);
  expect(screen.lines()).toEqual(["one"]);
});

test("only what has changed is written", () => {
  const screen = smallScreen({ columns: 20, rows: 10 });
  const region = createRegion(screen);
  region.draw(["one", "two"]);
  const before = screen.written.length;
  region.draw(["one", "two"]);
  expect(screen.written).toHaveLength(before);
  region.draw(["one", "zwei"]);
  expect(screen.written.at(-1)).not.toContain("one");
});

test("each frame is one write that the terminal shows at once", () => {
  const screen = smallScreen({ columns: 20, rows: 10 });
  const region = createRegion(screen);
  region.draw(["one"]);
  region.above("x");
  for (const frame of screen.written) {
    expect(frame.startsWith("\u001b[?2026h")).toBe(true);
    expect(frame.endsWith("\u001b[?2026l")).toBe(true);
  }
});

test("lines that a narrower terminal has wrapped are erased completely", () => {
  const screen = smallScreen({ columns: 20, rows: 10 });
  const region = createRegion(screen);
  region.above("a notice");
  region.draw(["x".repeat(19), "y".repeat(19)]);
  screen.resize(12);
  region.draw(["xx", "yy"]);
  expect(screen.lines()).toEqual(["a notice", "xx", "yy"]);
});

test("the cursor is given back and lines wrap again, also when the program ends at once", () => {
  for (const end of ["clear", "abandon"] as const) {
    const screen = smallScreen({ columns: 20, rows: 10 });
    const region = createRegion(screen);
    region.draw(["one", "two"]);
    expect([screen.isCursorShown, screen.isSynchronized]).toEqual([false, false]);
    region[end]();
    expect([screen.isCursorShown, screen.wraps, screen.isSynchronized]).toEqual([true, true, false]);
    screen.write("next");
    expect(screen.lines()).toEqual(end === "clear" ? ["next"] : ["one", "two", "next"]);
  }
});

test("a region that was never drawn writes nothing", () => {
  const screen = smallScreen({ columns: 20, rows: 10 });
  const region = createRegion(screen);
  region.clear();
  region.abandon();
  expect(screen.written).toEqual([]);
});

test("whatever is drawn, the screen ends with everything written above and then the last lines", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", "-"), minLength: 1, maxLength: 19 });
  const step = fc.oneof(
    fc.record({ draw: fc.array(line, { maxLength: 5 }) }),
    fc.record({ say: fc.array(line, { minLength: 1, maxLength: 2 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const screen = smallScreen({ columns: 20, rows: 8 });
      const region = createRegion(screen);
      const said: string[] = [];
      let drawn: readonly string[] = [];
      for (const each of steps) {
        if ("say" in each) {
          said.push(...each.say);
          region.above(each.say.join("\n"));
        } else {
          drawn = each.draw;
          region.draw(drawn);
        }
      }
      expect(screen.lines()).toEqual([...said, ...drawn]);
    }),
    { numRuns: process.env.RETINUE_DEEP ? 20_000 : 400 },
  );
});
