import { useId, useState } from "react";
import { join } from "../../../ui/join.ts";
import { Field, INPUT } from "./field.tsx";

type Props = {
  label: string;
  value: number | null;
  /** Null when it was emptied. */
  onChange: (value: number | null) => void;
  hint?: string;
  placeholder?: string;
  readOnly?: boolean;
  /** Whole numbers only. */
  whole?: boolean;
  least?: number;
  most?: number;
};

/** A field for a number; what is none, or out of bounds, is said and not taken. */
export function NumberField({
  label,
  value,
  onChange,
  hint,
  whole = false,
  least = 0,
  most,
  ...rest
}: Props) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const fault = typed === null ? null : faultOf(typed, { whole, least, most });
  return (
    <Field id={id} label={label} {...(hint && { hint })} fault={fault}>
      <input
        id={id}
        inputMode={whole ? "numeric" : "decimal"}
        autoComplete="off"
        value={typed ?? value ?? ""}
        aria-invalid={fault ? true : undefined}
        aria-describedby={hint || fault ? `${id}-note` : undefined}
        onFocus={() => setTyped(rest.readOnly ? null : String(value ?? ""))}
        onBlur={() => setTyped(fault ? typed : null)}
        onChange={({ target }) => {
          setTyped(target.value);
          if (faultOf(target.value, { whole, least, most }) !== null) return;
          onChange(target.value.trim() === "" ? null : Number(target.value));
        }}
        className={join(INPUT, "figures h-8")}
        {...rest}
      />
    </Field>
  );
}

function faultOf(
  text: string,
  { whole, least, most }: { whole: boolean; least: number; most: number | undefined },
): string | null {
  if (text.trim() === "") return null;
  const number = Number(text);
  if (!Number.isFinite(number)) return "Not a number.";
  if (whole && !Number.isInteger(number)) return "A whole number, please.";
  if (number < least) return `At least ${least}.`;
  if (most !== undefined && number > most) return `At most ${most}.`;
  return null;
}
