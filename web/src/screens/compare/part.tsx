import type { ReactNode } from "react";

/** A part of the comparison with its heading. */
export function Part({
  title,
  about,
  aside,
  children,
}: {
  title: string;
  about?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-4 pb-2">
        <h2 className="text-sm font-semibold">{title}</h2>
        {about && <p className="figures text-xs text-ink-3">{about}</p>}
        {aside && <div className="ml-auto flex flex-wrap items-center gap-1.5">{aside}</div>}
      </div>
      {children}
    </section>
  );
}
