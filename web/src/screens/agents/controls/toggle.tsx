import { Switch } from "@base-ui/react/switch";
import { useId } from "react";

/** Something that is on or off, and what that means. */
export function Toggle({
  label,
  about,
  isOn,
  onChange,
  readOnly = false,
}: {
  label: string;
  about?: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  readOnly?: boolean;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <Switch.Root
        checked={isOn}
        onCheckedChange={onChange}
        disabled={readOnly}
        aria-labelledby={`${id}-label`}
        aria-describedby={about ? `${id}-about` : undefined}
        className="mt-0.5 flex h-4.5 w-8 shrink-0 rounded-full border border-line-strong bg-raised p-px transition-colors data-checked:border-accent data-checked:bg-accent data-disabled:opacity-60"
      >
        <Switch.Thumb className="size-3.5 rounded-full bg-ink-3 transition-transform data-checked:translate-x-3.5 data-checked:bg-accent-ink" />
      </Switch.Root>
      <div className="min-w-0">
        <p id={`${id}-label`} className="text-sm font-medium">
          {label}
        </p>
        {about && (
          <p id={`${id}-about`} className="text-xs text-pretty text-ink-3">
            {about}
          </p>
        )}
      </div>
    </div>
  );
}
