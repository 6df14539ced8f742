import { Menu } from "@base-ui/react/menu";
import { ChevronDown, Download } from "lucide-react";
import { Button } from "../../ui/button.tsx";

const FORMATS = [
  { format: "html", name: "Web page", about: "the trace, to look at without a server" },
  { format: "md", name: "Markdown", about: "the conversation, to read" },
  { format: "json", name: "JSON", about: "the whole trace, for programs" },
];

/** Saves the session as a file. */
export function ExportMenu({ sessionId }: { sessionId: string }) {
  return (
    <Menu.Root>
      <Menu.Trigger render={<Button title="Export" />}>
        <Download aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">Export</span>{" "}
        <ChevronDown aria-hidden className="size-3" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="z-50">
          <Menu.Popup className="w-72 animate-arrive rounded-lg border border-line bg-panel p-1 shadow-float">
            {FORMATS.map(({ format, name, about }) => (
              <Menu.LinkItem
                key={format}
                href={`/api/sessions/${sessionId}/export?format=${format}`}
                download={`${sessionId}.${format}`}
                closeOnClick
                className="block rounded-md px-2.5 py-1.5 text-sm data-[highlighted]:bg-hover"
              >
                <span className="font-medium">{name}</span>
                <span className="block text-xs text-ink-3">{about}</span>
              </Menu.LinkItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
