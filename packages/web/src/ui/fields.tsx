import { Switch } from "@base-ui/react/switch";
import { CircleAlert } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { join } from "./class-names.ts";

/** How inputs look, wherever they stand. */
export const INPUT =
  "w-full rounded-md border border-line-strong bg-panel px-2 text-sm text-ink placeholder:text-ink-3 focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-accent read-only:bg-raised read-only:text-ink-2 disabled:bg-raised disabled:text-ink-2";

type FormFieldProps = {
  id: string;
  label: string;
  hint?: ReactNode;
  fault?: string | null | undefined;
  children: ReactNode;
};

/** A label, what it labels, and below it what is wrong with that, or else what to know about it. */
export function FormField({ id, label, hint, fault, children }: FormFieldProps) {
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-1">
      <label htmlFor={id} className="text-xs font-medium text-ink-2">
        {label}
      </label>
      {children}
      {fault ? (
        <p id={`${id}-note`} className="flex items-start gap-1 text-xs text-bad">
          <CircleAlert aria-hidden className="mt-0.5 size-3 shrink-0" /> {fault}
        </p>
      ) : (
        hint && (
          <p id={`${id}-note`} className="text-xs text-pretty text-ink-3">
            {hint}
          </p>
        )
      )}
    </div>
  );
}

/** What every field of a form is given. */
export type FieldProps<Value> = {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  hint?: ReactNode;
  placeholder?: string | undefined;
  readOnly?: boolean;
};

type TextFieldProps = FieldProps<string> & {
  fault?: string | null;
  maxLength?: number;
  mono?: boolean;
  /** More than one line: how high it is when empty, as a class. */
  area?: string;
};

/**
 * A field for text. While someone types, it shows what they type: what comes back from the server may be tidied,
 * and must not move letters under their fingers.
 */
export function TextField({ label, value, onChange, hint, fault, area, mono, ...rest }: TextFieldProps) {
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
    <FormField id={id} label={label} hint={hint} fault={fault}>
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
    </FormField>
  );
}

/** Null is a field that was emptied; `whole`: whole numbers only. */
type NumberFieldProps = FieldProps<number | null> & {
  whole?: boolean;
  least?: number;
  most?: number | undefined;
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
}: NumberFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const fault = typed === null ? null : findFault(typed, { whole, least, most });
  return (
    <FormField id={id} label={label} hint={hint} fault={fault}>
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
          if (findFault(target.value, { whole, least, most }) !== null) return;
          onChange(target.value.trim() === "" ? null : Number(target.value));
        }}
        className={join(INPUT, "figures h-8")}
        {...rest}
      />
    </FormField>
  );
}

function findFault(
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

type ToggleProps = {
  label: string;
  about?: string | undefined;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  readOnly?: boolean;
};

/** Something that is on or off, and what that means. */
export function Toggle({ label, about, isOn, onChange, readOnly = false }: ToggleProps) {
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

type FormSectionProps = { title: string; about?: string; children: ReactNode };

/** A part of the form with its heading. */
export function FormSection({ title, about, children }: FormSectionProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="grid grid-cols-1 gap-3 border-b border-line px-4 py-4 last:border-b-0"
    >
      <div>
        <h2 id={id} className="text-sm font-semibold">
          {title}
        </h2>
        {about && <p className="text-xs text-pretty text-ink-3">{about}</p>}
      </div>
      {children}
    </section>
  );
}
