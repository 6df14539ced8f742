import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { About } from "../../schema/api/inspect.ts";
import type { Settings } from "../../schema/settings.ts";

type Example = About["examples"][number];

const LOOK_AROUND = example(
  "Look around this project",
  "Find where errors are handled and summarise it. Find where input is checked and summarise it. Review the last commit. Ask the assistant to find Acme's people.",
);
const THREE_DOMAINS = example(
  "People, times and mail at once",
  "Find Acme's people, check Tuesday 2pm and list unread mail",
);
const NEEDS_WORD = example(
  "Something that needs your word",
  'Send an email to ruth.okafor@acme.example saying "Tuesday 2pm works" and check Tuesday 2pm',
);
const READERS = example(
  "Three readers side by side",
  "Find where settings are read and summarise it. Find where files are written and summarise it. Review the last commit.",
);
const MEETING = example("A meeting", "Find Acme's people and check Friday 10am");

/**
 * Requests to begin with. Each does something without a key: the offline model splits it, several agents work at once, and
 * what is for the assistant is handed on. A report needs documents, so there is one only where the settings name some: the
 * project itself, which is searched unless they do, is a folder of code as a rule.
 */
export async function examplesFor(projectDir: string, { search }: Settings): Promise<Example[]> {
  const folders = (search.folders ?? []).map((folder) => resolve(projectDir, folder));
  const topic = await topicIn(folders.filter((folder) => folder !== resolve(projectDir)));
  const report =
    topic === null ? MEETING : example("A report with sources", `Create a comprehensive report on ${topic}`);
  return [LOOK_AROUND, THREE_DOMAINS, report, NEEDS_WORD, READERS];
}

/** Documents in a folder of their own are about what it is called. */
async function topicIn(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const found = entries.filter((entry) => entry.isDirectory() && /^\w[\w -]{2,60}$/.test(entry.name));
    const [first] = found.map((entry) => entry.name.replaceAll(/[-_]+/g, " ")).sort();
    if (first !== undefined) return first;
  }
  return null;
}

function example(title: string, task: string): Example {
  return { title, task, agent: null };
}
