import { createHash } from "node:crypto";
import { buildTrace } from "@retinue/core/trace/trace-tree";
import { expect, test } from "vitest";
import { createRows } from "../../../../test/fixtures/made-rows.ts";
import { createAllowance, makePageData } from "./page-data.ts";
import { renderTracePage } from "./render-page.ts";

const HOSTILE =
  "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u2028 &quot; \u202e \u001b[2J";

function makeTrace(text: string) {
  const rows = createRows();
  const turn = rows.turn(rows.run(text, [0, 10], { task: text, error: text }), [0, 5], {
    response_content: text,
  });
  rows.call(turn, text, "ok", [5, 6], { request_content: text, response_content: text });
  rows.run("a", [6, 9], { above: turn, status: "failed" });
  const at = "2026-01-01T00:00:00.000Z";
  const session = {
    session_id: "ses_1",
    title: text,
    project: text,
    workspace: "/w",
    created_at: at,
    updated_at: at,
    status: "completed" as const,
    metadata_json: null,
  };
  return buildTrace({ session, state: "completed", rows: rows.list, nowMs: 0 });
}

test("a page loads nothing, and only its own script and style may run in it", () => {
  const page = renderTracePage(makeTrace("plain"));
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'/,
  );
  expect(page).not.toMatch(/\s(?:src|href)=|url\(|@import|https?:\/\/(?!www\.w3\.org\/2000\/svg)/i);
  for (const [tag, name] of [
    ["script", "script-src"],
    ["style", "style-src"],
  ]) {
    const [, text = ""] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page) ?? [];
    const hash = createHash("sha256").update(text).digest("base64");
    expect(policy).toContain(`${name} 'sha256-${hash}'`);
  }
});

test("nothing of the record can end the element it is in or begin another", () => {
  const page = renderTracePage(makeTrace(HOSTILE), () => HOSTILE);
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script/g)).toHaveLength(2);
  expect(page).not.toContain("<!-- ");
  expect(page).not.toContain("<img");
  const [, json = ""] = /id="trace">([\s\S]*?)<\/script>/.exec(page) ?? [];
  expect(json).not.toMatch(/[<>&\u2028]/);
  expect(JSON.parse(json).runs[0].task).toContain("</script><script>alert(1)");
  for (const sign of ["\u202e", "\u001b"]) expect(page).not.toContain(sign);
});

test("runs come as a list that knows its own tree", () => {
  const { runs } = makePageData(makeTrace("plain"), () => undefined);
  expect(runs.map(({ agent, parent, end, depth }) => [agent, parent, end, depth])).toEqual([
    ["plain", -1, 2, 0],
    ["a", 0, 2, 1],
  ]);
});

test("a page holds so much text and no more, and says what is missing", () => {
  const { take, isUsedUp } = createAllowance(10, 6);
  expect(take("12345")).toBe("12345");
  expect(isUsedUp()).toBe(false);
  expect(take("1234567")).toBe("12345\n… 2 more characters");
  expect(take("x")).toBe("\n… 1 more character");
  expect(isUsedUp()).toBe(true);
});
