import type { ReactNode } from "react";

/** The line above every screen: its title, what belongs to it, and what can be done. */
export function ScreenHead({
  title,
  about,
  children,
}: {
  title: ReactNode;
  about?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-panel px-4 py-2">
      <h1 className="min-w-0 truncate text-base font-semibold">{title}</h1>
      {about && <div className="min-w-0 text-xs text-ink-3">{about}</div>}
      {children && <div className="ml-auto flex flex-wrap items-center gap-1.5">{children}</div>}
    </header>
  );
}
