import type { NewsEvent, StreamEvent } from "@retinue/core/schema/api/stream";

/** One server-sent event as a browser sees it; `kind` is put back into the data. */
export type Received<Event> = { id: number | null; event: Event };

/** Reads server-sent events as they come. */
export type EventReader<Event> = {
  readonly received: Received<Event>[];
  /** The stream has come to its end, or was cut. */
  readonly ended: Promise<"closed" | "cut">;
  /** Waits until something that was received, now or later, fits. */
  until(fits: (received: Received<Event>) => boolean): Promise<Received<Event>>;
  stop(): Promise<void>;
};

export function readEvents<Event extends StreamEvent | NewsEvent = StreamEvent>(
  response: Response,
): EventReader<Event> {
  const received: Received<Event>[] = [];
  const waiting = new Set<() => void>();
  const reader = (response.body ?? new ReadableStream()).getReader();
  let isOver = false;
  const ended = (async () => {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += decoder.decode(part.value, { stream: true });
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) received.push(...parse<Event>(block));
        for (const look of waiting) look();
      }
      return "closed" as const;
    } catch {
      return "cut" as const;
    } finally {
      isOver = true;
      for (const look of waiting) look();
    }
  })();
  return {
    received,
    ended,
    until: (fits) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = received.find(fits);
          if (!found && !isOver) return;
          waiting.delete(look);
          if (found) resolve(found);
          else reject(new Error("the stream ended before that came"));
        };
        waiting.add(look);
        look();
      }),
    stop: () => reader.cancel(),
  };
}

function parse<Event>(block: string): Received<Event>[] {
  const fields = new Map(
    block.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const kind = fields.get("event");
  if (kind === undefined) return [];
  const id = fields.get("id");
  const event = { kind, ...JSON.parse(fields.get("data") ?? "{}") } as Event;
  return [{ id: id === undefined ? null : Number(id), event }];
}
