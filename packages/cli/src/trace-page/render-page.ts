import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Trace } from "@retinue/core/schema/inspect/trace";
import { makePageData } from "./page-data.ts";

/** Parts of the page, each after those it needs. */
const STYLES = ["page", "pane", "narrow"];
const SCRIPTS = ["dom", "tree", "grid", "details", "page"];

/**
 * A trace as one HTML file. It loads nothing and may load nothing; the only script and style it may run are its own, by
 * their hashes. What the record holds is data in it, never markup: the script makes text nodes of it.
 */
export function renderTracePage(
  trace: Trace,
  findPrompt: (id: string) => string | undefined = () => undefined,
): string {
  const style = STYLES.map((name) => readAsset(`${name}.css`)).join("\n");
  const script = readScript(SCRIPTS);
  const data = makePageData(trace, findPrompt);
  const policy = [
    "default-src 'none'",
    `script-src '${hashText(script)}'`,
    `style-src '${hashText(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Retinue">
<title>Trace</title>
<style>${style}</style>
</head>
<body>
<noscript>This trace is drawn by a script in this file, which loads nothing. Allow it to run, or use: retinue trace</noscript>
<div id="app"></div>
<script type="application/json" id="trace">${embedJson(data)}</script>
<script>${script}</script>
</body>
</html>`;
}

/** JSON that no HTML parser can take for the end of its element, or for anything else. */
function embedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The parts are modules for tools and readers; in the page they share one scope of their own. */
function readScript(names: readonly string[]): string {
  const parts = names.map((name) =>
    readAsset(`${name}.js`)
      .replace(/^import [\s\S]*?;\n/gm, "")
      .replace(/^export /gm, ""),
  );
  return `"use strict";{${parts.join("\n")}}`;
}

function readAsset(name: string): string {
  return readFileSync(new URL(`./page/${name}`, import.meta.url), "utf8");
}

function hashText(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
