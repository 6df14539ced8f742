/** The five tasks of `bench:contract`: a project each, what its agents do turn by turn, and how its success shows. */
import type { Move, Script } from "./contract-model.ts";

/** A task that the program is given in a project of its own. */
export type Task = {
  name: string;
  files: Readonly<Record<string, string>>;
  /** Arguments of the program. */
  args: readonly string[];
  scripts: readonly Script[];
  /** What its files must hold at the end. */
  leaves: Readonly<Record<string, RegExp>>;
  /** What it must print. */
  prints: RegExp;
};

const RUN = ["run", "-p", "--permission-mode", "bypassPermissions"];

const read = (path: string, shows?: RegExp): Move => ({
  known: ["Read", { file_path: path }],
  ours: ["read", { path }],
  ...(shows && { shows }),
});
const edit = (path: string, old: string, replacement: string): Move => ({
  known: ["Edit", { file_path: path, old_string: old, new_string: replacement }],
  ours: ["edit", { path, edits: [{ old, new: replacement }] }],
});
const write = (path: string, content: string): Move => ({
  known: ["Write", { file_path: path, content }],
  ours: ["write", { path, content }],
});
const grep = (pattern: string, path: string, shows: RegExp): Move => ({
  known: ["Grep", { pattern, path, output_mode: "content", "-n": true }],
  ours: ["grep", { pattern, path }],
  shows,
});
const glob = (pattern: string): Move => ({ known: ["Glob", { pattern }], ours: ["glob", { pattern }] });
const list = (path: string): Move => ({ known: ["LS", { path }], ours: ["ls", { path }] });
const bash = (command: string, description: string, shows?: RegExp): Move => ({
  known: ["Bash", { command, description, timeout: 120_000 }],
  ours: ["shell", { command }],
  ...(shows && { shows }),
});
/** A list of things to do, of which so many are done. */
const todos = (done: number, ...texts: string[]): Move => {
  const status = (at: number, word: string) => (at < done ? word : at === done ? "in_progress" : "pending");
  return {
    known: [
      "TodoWrite",
      {
        todos: texts.map((content, at) => ({
          content,
          status: status(at, "completed"),
          activeForm: `Doing: ${content}`,
        })),
      },
    ],
    ours: ["todo", { items: texts.map((text, at) => ({ text, status: status(at, "done") })) }],
  };
};
const search = (query: string): Move => ({
  known: ["WebSearch", { query, num_results: 5 }],
  ours: ["web_search", { query, limit: 5 }],
});
const task = (agent: string, prompt: string, description: string): Move => ({
  known: ["Task", { subagent_type: agent, prompt, description }],
  ours: ["delegate", { agent, task: prompt }],
});
const tasks = (...each: { agent: string; task: string }[]): Move => ({
  known: ["delegate_many", { tasks: each }],
  ours: ["delegate_many", { tasks: each.map((one, at) => ({ id: `t${at + 1}`, ...one })) }],
});
const diff = (shows: RegExp): Move => ({ known: ["git_diff", {}], shows });
const test = (shows: RegExp): Move => ({ known: ["test", {}], shows });

const PACKAGE = `${JSON.stringify({ name: "shop", type: "module", private: true, scripts: { test: "node --test" } }, null, 2)}\n`;
/** What the project tells its agents. */
export const INSTRUCTIONS = `# For agents

- Run \`npm test\` before you finish; tests use \`node:test\` and \`node:assert/strict\`.
- Functions throw a RangeError for a number that is out of range, and name the value in its message.
- No dependencies. Two spaces, double quotes, semicolons.
- Files of data/ are made by a program; do not edit them.
`;
const PRICE = `/** A price after a discount in percent. */
export function applyDiscount(price, percent) {
  return Math.round(price * (100 - percent)) / 100;
}

/** The sum of a cart's lines, each with a price and a count. */
export function sumCart(lines) {
  return lines.reduce((sum, { price, count }) => sum + price * count, 0);
}
`;
const PRICE_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { applyDiscount, sumCart } from "../src/price.js";

test("a discount is taken off", () => assert.equal(applyDiscount(80, 25), 60));
test("a cart is summed", () => assert.equal(sumCart([{ price: 2, count: 3 }]), 6));
`;
const SHOP = {
  "package.json": PACKAGE,
  "AGENTS.md": INSTRUCTIONS,
  "README.md": "# Shop\n\n`applyDiscount` and `sumCart` are in src/price.js.\n",
  "src/price.js": PRICE,
  "test/price.test.js": PRICE_TEST,
};
const SIGNATURE = "export function applyDiscount(price, percent) {\n";
const CHECKED = `${SIGNATURE}  if (!(percent >= 0 && percent <= 100)) throw new RangeError(\`percent is \${percent}\`);\n`;
const CHECK_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { applyDiscount } from "../src/price.js";

test("a discount over 100 is refused", () => assert.throws(() => applyDiscount(80, 101), RangeError));
test("a discount below 0 is refused", () => assert.throws(() => applyDiscount(80, -1), RangeError));
test("a discount that is no number is refused", () => assert.throws(() => applyDiscount(80, NaN), RangeError));
`;
const CHANGE: readonly (readonly Move[])[] = [
  [read("src/price.js", /applyDiscount/), read("test/price.test.js", /a cart is summed/)],
  [edit("src/price.js", SIGNATURE, CHECKED), diff(/RangeError/), grep("RangeError", "src", /price\.js:3/)],
  [write("test/price-range.test.js", CHECK_TEST), test(/\b5\b/)],
  [bash("npm test 2>&1 | tail -20", "Run all tests", /pass 5/)],
];
const REPORT = `\`applyDiscount\` refuses a percentage outside 0 to 100 with a RangeError.

- src/price.js: the check is the first line of the function, so that nothing is computed from a bad value; NaN fails it too.
- test/price-range.test.js: three tests, for over 100, below 0 and NaN.

All 5 tests pass.`;

const ASK_REVIEW =
  "Review the uncommitted change of src/price.js: is the range checked for every input, and is it tested?";
const ASK_CHANGE =
  "Make applyDiscount in src/price.js throw a RangeError for a percentage outside 0 to 100, with tests in test/price-range.test.js. Have the change reviewed.";
const TODO = ["look at the function", "have it changed and reviewed", "check the change"];
const VALIDATION: Task = {
  name: "validation with review",
  files: SHOP,
  args: [...RUN, "Add validation to applyDiscount and have it reviewed."],
  scripts: [
    {
      task: "Add validation to applyDiscount and have it reviewed.",
      turns: [
        [todos(0, ...TODO), list("src")],
        [task("coder", ASK_CHANGE, "Add validation")],
        [todos(2, ...TODO), diff(/RangeError/), test(/\b5\b/)],
      ],
      answer:
        "applyDiscount now refuses percentages outside 0 to 100; 5 tests pass, and the review found nothing.",
    },
    {
      task: ASK_CHANGE,
      turns: [...CHANGE, [task("reviewer", ASK_REVIEW, "Review the validation")]],
      answer: `${REPORT} The reviewer found no defect.`,
    },
    {
      task: ASK_REVIEW,
      turns: [[diff(/RangeError/), read("src/price.js", /RangeError/)], [test(/\b5\b/)]],
      answer:
        "No defect found. The check covers numbers out of range and NaN; the tests cover all three. 5 tests pass.",
    },
  ],
  leaves: { "src/price.js": /RangeError/, "test/price-range.test.js": /RangeError/ },
  prints: /refuses percentages/,
};

const RANGE = `/** Whole numbers from first to last, both included. */
export function listRange(first, last) {
  return Array.from({ length: last - first }, (_, index) => first + index);
}
`;
const RANGE_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { listRange } from "../src/range.js";

test("a range holds both ends", () => assert.deepEqual(listRange(1, 3), [1, 2, 3]));
test("a range of one number", () => assert.deepEqual(listRange(5, 5), [5]));
`;
const ASK_CAUSE =
  "Find out why test/range.test.js fails (node --test). Change nothing; name the line that causes it.";
const FAILING: Task = {
  name: "failing test",
  files: { ...SHOP, "src/range.js": RANGE, "test/range.test.js": RANGE_TEST },
  args: [...RUN, "The tests fail. Find out why and fix it."],
  scripts: [
    {
      task: "The tests fail. Find out why and fix it.",
      turns: [
        [bash("npm test 2>&1 | tail -40", "Run the tests", /a range of one number/)],
        [task("debugger", ASK_CAUSE, "Find the cause")],
        [read("src/range.js", /listRange/)],
        [edit("src/range.js", "last - first }", "last - first + 1 }"), test(/\b4\b/)],
      ],
      answer: "listRange left out its last number (src/range.js:3); it is fixed and all 4 tests pass.",
    },
    {
      task: ASK_CAUSE,
      turns: [
        [glob("**/range*.js"), grep("listRange", ".", /range\.js/)],
        [read("src/range.js", /listRange/), read("test/range.test.js", /both ends/)],
        [bash("node --test test/range.test.js", "Run the failing test", /fail 2/)],
      ],
      answer:
        "The cause is src/range.js:3: `length: last - first` is one too small, as both ends are included. Add 1.",
    },
  ],
  leaves: { "src/range.js": /first \+ 1 \}/ },
  prints: /it is fixed/,
};

const FOLDERS = ["billing", "shipping", "support"];
/** About 27 KB of notes; the last line holds what is asked for. */
function writeNotes(folder: string, part: number): string {
  const lines = Array.from(
    { length: 330 },
    (_, at) =>
      `${folder} ${part}, entry ${at + 1}: the usual case was handled as agreed, and nothing was left open.`,
  );
  return `${lines.join("\n")}\nThe limit of ${folder} ${part} is ${part * 10} per day.\n`;
}
const askNotes = (folder: string) =>
  `Read both files of notes/${folder} to the end and name the limit that each gives.`;
const THREE_FOLDERS: Task = {
  name: "three folders",
  files: {
    "package.json": PACKAGE,
    "AGENTS.md": INSTRUCTIONS,
    ...Object.fromEntries(
      FOLDERS.flatMap((folder) =>
        [1, 2].map((part) => [`notes/${folder}/part-${part}.md`, writeNotes(folder, part)]),
      ),
    ),
  },
  args: [...RUN, "Which limits do our notes give? There are three folders of them."],
  scripts: [
    {
      task: "Which limits do our notes give? There are three folders of them.",
      turns: [
        [
          todos(0, "see what there is", "have each folder read", "put the limits together"),
          glob("notes/**/*.md"),
        ],
        [tasks(...FOLDERS.map((folder) => ({ agent: "researcher", task: askNotes(folder) })))],
      ],
      answer: "Each folder gives two limits: 10 per day in part 1 and 20 per day in part 2.",
    },
    ...FOLDERS.map((folder) => ({
      task: askNotes(folder),
      turns: [
        [list(`notes/${folder}`), search(`limit of ${folder}`)],
        [1, 2].map((part) => read(`notes/${folder}/part-${part}.md`, new RegExp(`is ${part}0 per day`))),
      ],
      answer: `The limit of ${folder} is 10 per day (part-1.md:331) and 20 per day (part-2.md:331).`,
    })),
  ],
  leaves: {},
  prints: /two limits/,
};

const claudeAgent = (name: string, tools: string, description: string, prompt: string) => ({
  [`.claude/agents/${name}.md`]: `---\nname: ${name}\ndescription: ${description}\ntools: ${tools}\n---\n${prompt}\n`,
});
const ASK_FIND = "Find every use of sumCart and list them with file and line.";
const ASK_STATE = "Run the tests with npm test and say whether they pass.";
const ASK_RENAME = "Rename sumCart to sumLines in src/price.js and test/price.test.js.";
const OWN_LEAD: Task = {
  name: "own lead, three agents",
  files: {
    ...SHOP,
    ...claudeAgent(
      "lead",
      "Task, Read, Grep, Bash, TodoWrite, Edit",
      "Leads a change from the search to the check.",
      "You lead a change. Plan it with TodoWrite, let your agents do the parts with the Task tool, and check the outcome with Bash.",
    ),
    ...claudeAgent(
      "finder",
      "Read, Grep, Glob",
      "Finds uses of a name.",
      "You find where names are used. Use Grep, then Read.",
    ),
    ...claudeAgent(
      "writer",
      "Read, Edit, Write",
      "Changes files as told.",
      "You change files. Read each one before you use Edit.",
    ),
    ...claudeAgent(
      "checker",
      "Bash, Read",
      "Runs the tests.",
      "You run the tests with Bash and report the numbers.",
    ),
  },
  args: [...RUN, "--agent", "lead", "Rename the function sumCart to sumLines everywhere."],
  scripts: [
    {
      task: "Rename the function sumCart to sumLines everywhere.",
      turns: [
        [todos(0, "find uses", "rename", "update the README", "test"), grep("sumCart", ".", /price\.js/)],
        [task("finder", ASK_FIND, "Find uses"), task("checker", ASK_STATE, "Test before")],
        [task("writer", ASK_RENAME, "Rename")],
        [read("README.md", /sumCart/)],
        [
          edit("README.md", "sumCart", "sumLines"),
          bash("npm test 2>&1 | tail -9; grep -rn sumCart . || echo none", "Check", /pass 2[\s\S]*none/),
        ],
      ],
      answer: "sumCart is now sumLines in src, test and README.md; both tests pass.",
    },
    {
      task: ASK_FIND,
      turns: [[grep("sumCart", ".", /README/)], [read("src/price.js", /sumCart/)]],
      answer: "README.md:3, src/price.js:7, test/price.test.js:3 and 6.",
    },
    {
      task: ASK_STATE,
      turns: [[bash("npm test 2>&1 | tail -9", "Run the tests", /pass 2/)]],
      answer: "2 of 2 tests pass.",
    },
    {
      task: ASK_RENAME,
      turns: [
        [read("src/price.js", /sumCart/), read("test/price.test.js", /sumCart/)],
        [
          edit("src/price.js", "sumCart", "sumLines"),
          edit("test/price.test.js", "applyDiscount, sumCart", "applyDiscount, sumLines"),
          edit("test/price.test.js", "sumCart([{", "sumLines([{"),
        ],
      ],
      answer: "sumCart is sumLines in both files: one place in src/price.js, two in test/price.test.js.",
    },
  ],
  leaves: { "src/price.js": /sumLines/, "README.md": /sumLines/, "test/price.test.js": /sumLines\(\[/ },
  prints: /now sumLines/,
};

const GOAL = "Discounts outside 0 to 100 percent are refused, with tests.";
const STEP_TASKS = {
  look: "Find applyDiscount, its callers and its tests, and say what it does with a percentage of 150.",
  change:
    "In src/price.js let applyDiscount throw a RangeError for a percentage outside 0 to 100; test it in test/price-range.test.js.",
  review:
    "Review src/price.js and test/price-range.test.js: is every input out of range refused, and is it tested?",
};
const planStep = (id: keyof typeof STEP_TASKS, role: string, dependsOn: string[], files: string[]) => ({
  id,
  title: `${id} at the discount's range`,
  role,
  task: STEP_TASKS[id],
  dependsOn,
  files,
  successCriteria: ["It is said with file and line, and the tests pass"],
  estimate: { toolCalls: 6 },
});
const PLAN = {
  summary: "Look at the function, change it with tests, review the change.",
  steps: [
    planStep("look", "researcher", [], ["src/price.js"]),
    planStep("change", "coder", ["look"], ["src/price.js", "test/price-range.test.js"]),
    planStep("review", "reviewer", ["change"], ["src/price.js"]),
  ],
};
const PLANNED: Task = {
  name: "plan of three steps",
  files: SHOP,
  args: ["plan", "make", "-p", "--approve", "--permission-mode", "bypassPermissions", GOAL],
  scripts: [
    {
      task: GOAL,
      turns: [
        [glob("**/*.js"), grep("applyDiscount", ".", /price\.js/)],
        [read("src/price.js", /applyDiscount/)],
      ],
      answer: JSON.stringify(PLAN),
    },
    {
      task: STEP_TASKS.look,
      turns: [
        [grep("applyDiscount", ".", /price\.js/)],
        [read("src/price.js", /applyDiscount/), read("test/price.test.js")],
      ],
      answer:
        "applyDiscount is in src/price.js:2 and is tested in test/price.test.js:5. With 150 it gives a negative price.",
    },
    { task: STEP_TASKS.change, turns: CHANGE, answer: REPORT },
    {
      task: STEP_TASKS.review,
      turns: [[diff(/RangeError/), read("test/price-range.test.js", /RangeError/)], [test(/\b5\b/)]],
      answer: "No defect found: every number out of range and NaN are refused and tested. 5 of 5 tests pass.",
    },
  ],
  leaves: { "src/price.js": /RangeError/, "test/price-range.test.js": /RangeError/ },
  prints: /3 of 3 steps done/,
};

/** The tasks, in the order of the table. */
export const TASKS: readonly Task[] = [VALIDATION, FAILING, THREE_FOLDERS, OWN_LEAD, PLANNED];

/** What main is asked, and what it hands to one agent of each kind, to see their first requests. */
const ASKED = {
  coder: "Say which file applyDiscount is in.",
  researcher: "Say what sumCart does.",
  email: "Say whether a mail from Ada arrived.",
};
/** A greeting, which must cost little. */
export const HELLO: Task = {
  name: "hello",
  files: SHOP,
  args: [...RUN, "hello"],
  scripts: [{ task: "hello", turns: [], answer: "Hello. What would you like done?" }],
  leaves: {},
  prints: /Hello/,
};
/** One delegation to each of three agents, in a project with a mailbox. */
export const KINDS: Task = {
  name: "one of each",
  files: { ...SHOP, ".retinue/settings.json": '{ "assistant": { "folder": "mailbox" } }\n' },
  args: [...RUN, "Ask one of each."],
  scripts: [
    {
      task: "Ask one of each.",
      turns: [[tasks(...Object.entries(ASKED).map(([agent, asked]) => ({ agent, task: asked })))]],
      answer: "They answered.",
    },
    ...Object.values(ASKED).map((asked) => ({ task: asked, turns: [], answer: "It is done." })),
  ],
  leaves: {},
  prints: /answered/,
};
/** The task by whose words the first request of an agent is known. */
export const FIRST_TASKS: Readonly<Record<string, string>> = { main: "hello", ...ASKED };
