import { Plus, TriangleAlert, X } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { join } from "../../../ui/class-names.ts";
import { Button } from "../../../ui/controls.tsx";
import { FormField, INPUT } from "../../../ui/fields.tsx";

const EXAMPLES = "write(test/**), shell(npm test *), web_fetch(*.example.org), mcp__server__*";

type RuleInputProps = {
  label: string;
  known: ReadonlySet<string>;
  taken: readonly string[];
  onAdd: (rule: string) => void;
  /** Stands between the field and the button. */
  children?: ReactNode;
};

/** Where a rule is typed; it is looked at while it grows. */
export function RuleInput({ label, known, taken, onAdd, children }: RuleInputProps) {
  const id = useId();
  const [text, setText] = useState("");
  const rule = text.trim();
  const remark = taken.includes(rule)
    ? { level: "fault" as const, words: "It is in the list already." }
    : remarkOn(rule, known);
  const isFaulty = remark?.level === "fault";
  const add = () => {
    if (rule === "" || isFaulty) return;
    onAdd(rule);
    setText("");
  };
  return (
    <FormField
      id={id}
      label={label}
      fault={isFaulty ? remark.words : null}
      hint={remark?.words ?? `For example ${EXAMPLES}`}
    >
      <div className="flex flex-wrap gap-1.5">
        <input
          id={id}
          value={text}
          spellCheck={false}
          autoComplete="off"
          placeholder="tool(pattern)"
          aria-invalid={isFaulty || undefined}
          aria-describedby={`${id}-note`}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
          className={join(INPUT, "h-8 min-w-40 flex-1 font-mono text-xs")}
        />
        {children}
        <Button onClick={add} disabled={rule === "" || isFaulty}>
          <Plus aria-hidden className="size-3.5" /> Add rule
        </Button>
      </div>
    </FormField>
  );
}

type RuleChipProps = {
  rule: string;
  known: ReadonlySet<string>;
  /** Null where nothing can be changed. */
  onRemove: (() => void) | null;
  children?: ReactNode;
};

/** One rule of a list, with what is odd about it. */
export function RuleChip({ rule, known, onRemove, children }: RuleChipProps) {
  const remark = known.size > 0 ? remarkOn(rule, known) : null;
  return (
    <li className="inline-flex min-h-6 max-w-full items-center gap-1 rounded bg-raised pl-1.5 text-xs">
      {children}
      <code className="min-w-0 font-mono wrap-anywhere">{rule}</code>
      {remark && (
        <span className="inline-flex items-center gap-0.5 text-warn" title={remark.words}>
          <TriangleAlert aria-hidden className="size-3" /> {remark.level === "hint" ? "unknown" : "odd"}
        </span>
      )}
      {onRemove ? (
        <button
          type="button"
          aria-label={`Remove ${rule}`}
          onClick={onRemove}
          className="grid size-6 shrink-0 place-items-center rounded hover:bg-hover"
        >
          <X aria-hidden className="size-3" />
        </button>
      ) : (
        <span className="w-1" />
      )}
    </li>
  );
}

/** What is said about a rule that is being typed: why it cannot stand, or what to look at. */
type RuleRemark = { level: "fault" | "hint"; words: string } | null;

/** Looks at a rule before it is sent; the server has the last word. */
function remarkOn(rule: string, known: ReadonlySet<string>): RuleRemark {
  const fault = (words: string): RuleRemark => ({ level: "fault", words });
  if (rule === "") return null;
  const open = rule.indexOf("(");
  const tool = open < 0 ? rule : rule.slice(0, open);
  if (open < 0 && rule.includes(")")) return fault("Its brackets do not balance.");
  if (open >= 0 && !rule.endsWith(")")) return fault("Close the bracket: tool(pattern)");
  if (open >= 0 && rule.slice(open + 1, -1).trim() === "") {
    return fault("Nothing stands between the brackets. The name alone means every call.");
  }
  if (tool === "") return fault("Begin with the name of a tool: write(test/**)");
  if (!/^[!#-'*+\--~]{1,200}$/.test(tool)) return fault(`“${tool}” cannot be the name of a tool.`);
  if (tool.includes("*") || known.has(tool)) return null;
  const close = [...known].find((name) => name.startsWith(tool) || tool.startsWith(name));
  return {
    level: "hint",
    words: `No tool or group is called “${tool}” here${close ? `; did you mean ${close}?` : "."}`,
  };
}
