import { type ReactNode, useId, useState } from "react";
import { join } from "../../../ui/join.ts";
import { Field, INPUT } from "./field.tsx";

type Props = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  fault?: string | null;
  placeholder?: string;
  readOnly?: boolean;
  mono?: boolean;
  /** More than one line: how high it is when empty, as a class. */
  area?: string;
};

/**
 * A field for text. While someone types, it shows what they type: what comes back from the server may be tidied,
 * and must not move letters under their fingers.
 */
export function TextField({ label, value, onChange, hint, fault, area, mono, ...rest }: Props) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const common = {
    id,
    value: typed ?? value,
    spellCheck: area !== undefined && !mono,
    autoComplete: "off",
    "aria-invalid": fault ? true : undefined,
    "aria-describedby": hint || fault ? `${id}-note` : undefined,
    onFocus: () => setTyped(rest.readOnly ? null : value),
    onBlur: () => setTyped(null),
    ...rest,
  };
  const take = (next: string) => {
    setTyped(next);
    onChange(next);
  };
  return (
    <Field id={id} label={label} hint={hint} fault={fault ?? null}>
      {area === undefined ? (
        <input
          {...common}
          onChange={(event) => take(event.target.value)}
          className={join(INPUT, "h-8", mono && "font-mono text-xs")}
        />
      ) : (
        <textarea
          {...common}
          onChange={(event) => take(event.target.value)}
          className={join(INPUT, "field-sizing-content py-1.5", area, mono && "font-mono text-xs leading-5")}
        />
      )}
    </Field>
  );
}
