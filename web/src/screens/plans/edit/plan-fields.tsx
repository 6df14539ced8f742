import { type ComponentProps, type ReactNode, useId } from "react";
import { join } from "../../../ui/join.ts";

/** How a field of the editor looks. */
export const FIELD =
  "w-full rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-sm text-ink placeholder:text-ink-3";

/** A label over its field, which takes the id. */
export function Field({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="grid min-w-0 content-start gap-1">
      <label htmlFor={id} className="text-xs text-ink-2">
        {label}
      </label>
      {children(id)}
    </div>
  );
}

/** A field of several lines. */
export function TextArea({
  onText,
  className,
  ...rest
}: Omit<ComponentProps<"textarea">, "onChange"> & { onText: (text: string) => void }) {
  return (
    <textarea
      {...rest}
      className={join(FIELD, "field-sizing-content min-h-14", className)}
      onChange={(event) => onText(event.target.value)}
    />
  );
}
