import { type ReactNode, useId } from "react";

/** A part of the form with its heading. */
export function FormSection({
  title,
  about,
  children,
}: {
  title: string;
  about?: string;
  children: ReactNode;
}) {
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
