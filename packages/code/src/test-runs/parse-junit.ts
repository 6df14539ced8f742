import { findOwn } from "@retinue/core/schema/find-own";
import {
  type Failure,
  type Frame,
  findProjectFrames,
  placeFailure,
  shortenMessage,
  type TestReport,
  toProjectPath,
} from "./test-report.ts";

type Element = {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: Element[];
  text: string;
};

const TOKEN =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*"[^"]*")*)\s*(\/?)>|([^<]+)|</g;
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const MAX_DEPTH = 100;

/** Reads a JUnit XML report, as pytest, bun and deno write it; null if there is no test suite in the text. */
export function parseJunit(text: string, projectDir: string): TestReport | null {
  const root = parseXml(text);
  const cases = root && findCases(root, []);
  if (!cases) return null;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: Failure[] = [];
  const broken: Failure[] = [];
  for (const { element, suites } of cases) {
    const fault = element.children.find(({ name }) => name === "failure" || name === "error");
    if (element.children.some(({ name }) => name === "skipped")) counts.skipped++;
    else if (!fault) counts.passed++;
    else if (fault.attributes.message === "collection failure")
      broken.push(readJunitFailure(element, fault, { suites, projectDir }));
    else {
      counts.failed++;
      failures.push(readJunitFailure(element, fault, { suites, projectDir }));
    }
  }
  return { ...counts, failures, broken };
}

function readJunitFailure(
  { attributes }: Element,
  fault: Element,
  { suites, projectDir }: { suites: readonly string[]; projectDir: string },
): Failure {
  const { name = "a test", file: named, classname } = attributes;
  const file = named === undefined ? undefined : toProjectPath(named, projectDir);
  const stack = `${fault.attributes.message ?? ""}\n${fault.text}`;
  const frames = [...findPythonFrames(fault.text), ...findProjectFrames(stack, projectDir)];
  const isCollection = fault.attributes.message === "collection failure";
  const errors = [...fault.text.matchAll(/^E {3}(.*)$/gm)].map(([, line = ""]) => line);
  const message =
    isCollection || !fault.attributes.message ? errors.join("\n") || fault.text : fault.attributes.message;
  const above = suites.filter((suite) => suite !== "" && !name.startsWith(suite)).slice(-2);
  const placed = placeFailure(frames, file);
  return {
    name: file?.endsWith(".py")
      ? [classname?.split(".").at(-1), name].filter(Boolean).join("::")
      : [...above, name].join(" > "),
    message: shortenMessage(message) || "it failed",
    ...placed,
    line:
      placed.line ??
      (attributes.line === undefined ? undefined : Number(attributes.line) + (file?.endsWith(".py") ? 1 : 0)),
  };
}

/** Pytest names places as `path:line: in where` or `path:line: Error`, outermost first and relative to its root. */
function findPythonFrames(text: string): Frame[] {
  const found = [...text.matchAll(/^((?!\/)[^\s:]+\.py):(\d+): /gm)].map(([, file = "", line]) => ({
    file,
    line: Number(line),
    text: `${file}:${line}`,
  }));
  return found.toReversed();
}

function findCases(
  element: Element,
  suites: readonly string[],
): { element: Element; suites: readonly string[] }[] | undefined {
  const inside = element.name === "testsuite" ? [...suites, element.attributes.name ?? ""] : suites;
  if (element.name === "testcase") return [{ element, suites }];
  const below = element.children.map((child) => findCases(child, inside));
  if (
    element.name !== "testsuite" &&
    element.name !== "testsuites" &&
    below.every((each) => each === undefined)
  )
    return undefined;
  return below.flatMap((each) => each ?? []);
}

/** As much of XML as reports have; what is not closed ends with the text. */
function parseXml(text: string): Element | null {
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  for (const [, cdata, closing, opening, attributes = "", empty, plain] of text.matchAll(TOKEN)) {
    const current = open.at(-1) ?? root;
    if (cdata !== undefined) current.text += cdata;
    else if (plain !== undefined) current.text += decode(plain);
    else if (closing !== undefined && open.length > 1 && current.name === closing) open.pop();
    else if (opening !== undefined) {
      const element: Element = {
        name: opening,
        attributes: readAttributes(attributes),
        children: [],
        text: "",
      };
      current.children.push(element);
      if (!empty) open.push(element);
      if (open.length > MAX_DEPTH) return null;
    }
  }
  return root;
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w:.-]+)\s*=\s*"([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      decode(value),
    ]),
  );
}

function decode(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return findOwn(ENTITIES, name) ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
