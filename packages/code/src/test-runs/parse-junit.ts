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

/** As fast-xml-parser gives it: the one key besides these two is the element's name, with what is in it. */
type Node = { ":@"?: Readonly<Record<string, string>>; "#text"?: string; [tag: string]: unknown };

const MAX_DEPTH = 100;

/** Reads a JUnit XML report, as pytest, bun and deno write it; null if there is no test suite in the text. */
export async function parseJunit(text: string, projectDir: string): Promise<TestReport | null> {
  const root = await parseXml(text);
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

/** A report as elements; null if it is no XML, was cut off, or is nested deeper than any report. */
async function parseXml(text: string): Promise<Element | null> {
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: "",
    parseAttributeValue: false,
    parseTagValue: false,
    trimValues: false,
    // Characters by their number as well; entities that a report defines itself are left as they are written.
    htmlEntities: true,
    maxNestedTags: MAX_DEPTH,
  });
  try {
    return toElement("", {}, parser.parse(text) as readonly Node[]);
  } catch {
    return null;
  }
}

function toElement(name: string, attributes: Element["attributes"], nodes: readonly Node[]): Element {
  const element: Element = { name, attributes, children: [], text: "" };
  for (const { ":@": own = {}, "#text": text, ...tags } of nodes) {
    if (typeof text === "string") element.text += text;
    for (const [tag, below] of Object.entries(tags))
      if (Array.isArray(below)) element.children.push(toElement(tag, own, below));
  }
  return element;
}
