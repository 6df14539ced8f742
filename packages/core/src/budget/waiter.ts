/** Somebody in a queue; `gone` once the signal fired. */
export type Waiter = { grant: (granted: boolean) => void; gone: boolean };

/** Joins a queue; true when granted, false if the signal fired first. */
export function waitInLine(signal: AbortSignal, join: (waiter: Waiter) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const leave = () => {
      waiter.gone = true;
      resolve(false);
    };
    const waiter: Waiter = {
      gone: false,
      grant: (granted) => {
        signal.removeEventListener("abort", leave);
        resolve(granted);
      },
    };
    signal.addEventListener("abort", leave, { once: true });
    join(waiter);
  });
}
