/** What a task asks for, without the sections that the host puts after it and the frame of a plan's step. */
export function taskText(task: string): string {
  const [asked = ""] = task.split(/\n\n(?=## |<context |This is the step ")/, 1);
  return asked;
}

/** The sections that follow what a task asks for: files, context, results of others. */
export function taskSections(task: string): string {
  return task.slice(taskText(task).length);
}
