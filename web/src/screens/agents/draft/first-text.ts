/** A file to begin with: tools that only read, and limits that end a run that goes astray. */
export function firstText(name: string, description: string): string {
  // A string of JSON is one of YAML too, whatever it holds.
  return `---
name: ${name}
description: ${JSON.stringify(description)}
tools: [read, glob, grep]
limits: { turns: 20, minutes: 5 }
---
You work on one task. Read what it needs, and change nothing.

Report what you found, with file and line for everything you point to.
`;
}
