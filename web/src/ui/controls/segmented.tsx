import { join } from "../join.ts";

/** One of a few choices, side by side. */
export function Segmented<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: Value;
  choices: readonly { value: Value; name: string }[];
  onChange: (value: Value) => void;
}) {
  return (
    <fieldset className="inline-flex rounded-md border border-line-strong bg-panel p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
          className={join(
            "h-6.5 rounded px-2 text-xs font-medium",
            choice.value === value ? "bg-hover text-ink" : "text-ink-2 hover:text-ink",
          )}
        >
          {choice.name}
        </button>
      ))}
    </fieldset>
  );
}
