import { Plus } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { join } from "../../../ui/join.ts";
import { FieldNote, INPUT } from "../controls/field.tsx";
import { remarkOn } from "./rule-fault.ts";

const EXAMPLES = "write(test/**), shell(npm test *), web_fetch(*.example.org), mcp__server__*";

/** Where a rule is typed; it is looked at while it grows. */
export function RuleInput({
  label,
  known,
  taken,
  onAdd,
  children,
}: {
  label: string;
  known: ReadonlySet<string>;
  taken: readonly string[];
  onAdd: (rule: string) => void;
  /** Stands between the field and the button. */
  children?: ReactNode;
}) {
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
    <div className="grid gap-1">
      <label htmlFor={id} className="text-xs font-medium text-ink-2">
        {label}
      </label>
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
      <FieldNote
        id={`${id}-note`}
        fault={isFaulty ? remark.words : null}
        hint={remark?.words ?? `For example ${EXAMPLES}`}
      />
    </div>
  );
}
