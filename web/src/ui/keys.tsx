/** The name of the key that makes a letter a command: on Apple's keyboards another one. */
export const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl";

/** Keys as they are printed on a keyboard. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-0.5">
      {keys.split(" ").map((key) => (
        <kbd
          key={key}
          className="min-w-5 rounded border border-line-strong bg-raised px-1 text-center font-mono text-2xs text-ink-2"
        >
          {key}
        </kbd>
      ))}
    </span>
  );
}
