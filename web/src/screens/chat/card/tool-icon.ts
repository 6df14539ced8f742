import {
  BookOpen,
  CalendarDays,
  FilePen,
  FileSearch,
  FileText,
  GitBranch,
  Globe,
  type LucideIcon,
  Mail,
  MessageSquare,
  Network,
  Search,
  SquareTerminal,
  Users,
  Wrench,
} from "lucide-react";

/** The first that fits the tool's name. */
const ICONS: readonly [pattern: RegExp, icon: LucideIcon][] = [
  [/delegat|subagent|spawn/i, Network],
  [/mail|inbox/i, Mail],
  [/calendar|event/i, CalendarDays],
  [/contact|people/i, Users],
  [/slack|message|chat/i, MessageSquare],
  [/git|commit|branch/i, GitBranch],
  [/shell|bash|exec|command|terminal/i, SquareTerminal],
  [/web|fetch|url|http|browse/i, Globe],
  [/grep|search|find/i, Search],
  [/glob|list|tree|symbol/i, FileSearch],
  [/write|edit|patch|replace|rename|move|delete/i, FilePen],
  [/read|view|open/i, FileText],
  [/report|note|memory|remember/i, BookOpen],
];

/** An icon for a tool, by what its name says. */
export function toolIcon(tool: string): LucideIcon {
  return ICONS.find(([pattern]) => pattern.test(tool))?.[1] ?? Wrench;
}
