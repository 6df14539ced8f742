import { findOwn } from "@retinue/core/schema/find-own";
import { oneOf, type Shape, shape, type TypeIn, textWith } from "@retinue/core/schema/shape";
import { defineTool, type Tool } from "@retinue/core/tools/tool";
import { describeInput } from "./describe-input.ts";

const MAX_ITEMS = 100;
const MAX_TEXT = 500;
const MAX_RUNS = 1_000;
const ITEM = shape({
  text: textWith({ minLength: 1, maxLength: MAX_TEXT }),
  status: { type: "string", ...oneOf("pending", "in_progress", "done") },
});
type TodoItem = TypeIn<typeof ITEM>;
const ITEMS: Shape<readonly TodoItem[]> = { type: "array", maxItems: MAX_ITEMS, items: ITEM };
const INPUT = describeInput({ items: ITEMS });
type TodoInput = TypeIn<typeof INPUT>;

const MARKS: Readonly<Record<TodoItem["status"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  done: "[x]",
};

const STATUS_WORDS: Readonly<Record<string, string>> = {
  completed: "done",
  complete: "done",
  open: "pending",
  todo: "pending",
  active: "in_progress",
};

/** Takes items that are texts, and the words of other systems for how far they are. */
function acceptTodos(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(input.items)) return input;
  const isCancelled = (item: unknown) =>
    typeof item === "object" && item !== null && "status" in item && /^cancel/.test(String(item.status));
  const items = input.items
    .filter((item: unknown) => !isCancelled(item))
    .map((item: unknown) => {
      if (typeof item === "string") return { text: item, status: "pending" };
      if (typeof item !== "object" || item === null) return item;
      const { text, status = "pending" } = item as Readonly<Record<string, unknown>>;
      return {
        text,
        status: typeof status === "string" ? (findOwn(STATUS_WORDS, status) ?? status) : status,
      };
    });
  return { items };
}

const lists = new Map<string, readonly TodoItem[]>();

/** Keeps the run's own list of what it has to do. */
export const todo: Tool<TodoInput> = defineTool<TodoInput>({
  name: "todo",
  description: "Keeps your list of what is to do. Give the whole list each time.",
  groups: [],
  risk: "low",
  replay: "safe",
  isPublic: true,
  words: {
    todos: "items",
    tasks: "items",
    content: "text",
    description: "text",
    title: "text",
    task: "text",
    state: "status",
  },
  accept: acceptTodos,
  input: INPUT,
  execute: async ({ items }, { runId }) => {
    const before = lists.get(runId) ?? [];
    rememberList(runId, items);
    if (items.length === 0) return "the list is empty";
    const kept = new Set(items.map(({ text }) => text));
    const dropped = before.filter(({ text, status }) => status !== "done" && !kept.has(text)).length;
    const done = items.filter(({ status }) => status === "done").length;
    const notes = dropped > 0 ? [`(${dropped} unfinished items of the list before are not in this one)`] : [];
    return [`${done} of ${items.length} done`, ...items.map(formatItem), ...notes].join("\n");
  },
});

function formatItem({ text, status }: TodoItem): string {
  return `${MARKS[status]} ${text.replace(/\s+/g, " ").trim()}`;
}

/** Runs that were heard of longest ago are forgotten first. */
function rememberList(runId: string, items: readonly TodoItem[]): void {
  lists.delete(runId);
  lists.set(runId, items);
  const oldest = lists.keys().next().value;
  if (lists.size > MAX_RUNS && oldest !== undefined) lists.delete(oldest);
}
