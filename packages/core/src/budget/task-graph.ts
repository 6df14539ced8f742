import { RetinueError } from "../schema/error.ts";

/** A task that waits for others of the same graph. */
export type GraphTask = { id: string; dependsOn?: readonly string[] };

/** How one task ended: with a value that counts as a success or not, or never begun. */
export type TaskOutcome<Value> =
  | { kind: "done"; value: Value; success: boolean }
  | { kind: "skipped"; because: string };

/** What happens to the rest when a task fails. */
export type OnFailure = "continue" | "stop";

/** Checks ids and dependencies; throws an error that names the duplicate, the unknown id or the cycle. */
export function checkGraph(tasks: readonly GraphTask[]): void {
  const byId = new Map<string, GraphTask>();
  for (const task of tasks) {
    if (byId.has(task.id))
      throw new RetinueError("input", `two tasks have the id '${task.id}'`, "give each task its own id");
    byId.set(task.id, task);
  }
  for (const task of tasks) {
    for (const id of task.dependsOn ?? []) {
      if (byId.has(id)) continue;
      const known = [...byId.keys()].join(", ");
      throw new RetinueError(
        "input",
        `task '${task.id}' depends on '${id}', which is not in the batch; ids: ${known}`,
      );
    }
  }
  const cycle = findCycle(byId);
  if (cycle) {
    throw new RetinueError(
      "input",
      `tasks depend on each other in a circle: ${cycle.join(" → ")}`,
      "remove one of these dependencies",
    );
  }
}

function findCycle(byId: ReadonlyMap<string, GraphTask>): string[] | null {
  const done = new Set<string>();
  for (const start of byId.keys()) {
    const path: string[] = [];
    const onPath = new Set<string>();
    const stack: { id: string; next: number }[] = [{ id: start, next: 0 }];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (!top) break;
      if (top.next === 0) {
        if (done.has(top.id)) {
          stack.pop();
          continue;
        }
        path.push(top.id);
        onPath.add(top.id);
      }
      const id = byId.get(top.id)?.dependsOn?.[top.next++];
      if (id === undefined) {
        done.add(top.id);
        onPath.delete(top.id);
        path.pop();
        stack.pop();
      } else if (onPath.has(id)) {
        return [...path.slice(path.indexOf(id)), id];
      } else {
        stack.push({ id, next: 0 });
      }
    }
  }
  return null;
}

/** What a graph runs on: the limit its tasks share, what to do on failure, and how one task is run. */
export type GraphPorts<Task, Value> = {
  within: <Result>(work: () => Promise<Result>) => Promise<Result>;
  onFailure: OnFailure;
  run: (task: Task, needed: readonly Value[]) => Promise<{ value: Value; success: boolean }>;
};

/**
 * Runs each task as soon as all it depends on has succeeded; tasks below a failed one are skipped. With `stop`
 * no task begins after a failure. Outcomes come back in the order of the tasks.
 */
export async function runGraph<Task extends GraphTask, Value>(
  tasks: readonly Task[],
  ports: GraphPorts<Task, Value>,
): Promise<TaskOutcome<Value>[]> {
  checkGraph(tasks);
  const started = new Map<string, Promise<TaskOutcome<Value>>>();
  let failed: string | undefined;
  const byId = new Map(tasks.map((task) => [task.id, task]));

  const begin = (id: string): Promise<TaskOutcome<Value>> => {
    let promise = started.get(id);
    const task = byId.get(id);
    if (!promise && task) {
      promise = Promise.resolve().then(() => step(task));
      started.set(id, promise);
    }
    return promise ?? Promise.resolve({ kind: "skipped", because: `unknown task '${id}'` });
  };

  const step = async (task: Task): Promise<TaskOutcome<Value>> => {
    const needed: Value[] = [];
    for (const id of task.dependsOn ?? []) {
      const outcome = await begin(id);
      if (outcome.kind === "skipped" || !outcome.success)
        return { kind: "skipped", because: `it needs '${id}', which did not succeed` };
      needed.push(outcome.value);
    }
    return ports.within(async () => {
      if (ports.onFailure === "stop" && failed !== undefined) {
        return { kind: "skipped", because: `'${failed}' failed and the batch stops on failure` };
      }
      const { value, success } = await ports.run(task, needed);
      if (!success) failed ??= task.id;
      return { kind: "done", value, success };
    });
  };

  return Promise.all(tasks.map((task) => begin(task.id)));
}
