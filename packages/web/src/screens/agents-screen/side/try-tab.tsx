import type { TryRequest, TryResult } from "@retinue/core/schema/api/agent";
import { Play, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { api } from "../../../data/client.ts";
import { useTools } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { SuggestField } from "../../../ui/choosers.tsx";
import { join } from "../../../ui/class-names.ts";
import { Button, submitWith } from "../../../ui/controls.tsx";
import { TextField } from "../../../ui/fields.tsx";
import { VERDICTS, VerdictMark } from "../../../ui/rights-table.tsx";
import { Failed, Loading } from "../../../ui/states.tsx";
import { useParam } from "../../../ui/use-address.ts";
import type { EditedAgent } from "../agent-draft.ts";
import { useAgentDraft } from "../use-agent-draft.tsx";
import { ParentsPicker } from "./rights-tab.tsx";

type Tried = { result?: TryResult; asked?: string; failure?: unknown };

/** A call that is not made: what would become of it, and why. */
export function TryTab() {
  const draft = useAgentDraft();
  const { data, error, refetch } = useTools();
  const [chosen, setTool] = useParam("call");
  const tool = chosen || data?.tools[0]?.name || "";
  const schema = data?.tools.find(({ name }) => name === tool);
  const [input, setInput] = useState("");
  const [tried, setTried] = useState<Tried>({});
  const question = writeQuestion(useSignal(draft.text), useSignal(draft.parents), tool, input);
  useEffect(() => {
    if (schema) setInput(JSON.stringify(sampleInput(schema.input), null, 2));
  }, [schema]);
  if (error) return <Failed failure={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading rows={3} label="Loading the tools" />;
  const fault = findFault(input);
  const attempt = async () => {
    if (fault !== null || tool === "") return;
    try {
      await draft.settled();
      const asked = writeQuestion(draft.text.value, draft.parents.value, tool, input);
      const result = await api.post<TryResult>("/api/agents/try", composeRequest(draft, tool, input));
      setTried({ result, asked });
    } catch (failure) {
      setTried({ failure });
    }
  };
  return (
    <form
      aria-label="Try a call"
      className="grid grid-cols-1 gap-3 p-4"
      onSubmit={submitWith(attempt)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void attempt();
      }}
    >
      <ParentsPicker />
      <SuggestField
        label="Tool"
        value={tool}
        choices={data.tools.map(({ name }) => name)}
        onChange={setTool}
        {...(schema?.description && { hint: firstLine(schema.description) })}
      />
      <TextField
        label="Input, as JSON"
        area="min-h-24"
        mono
        value={input}
        onChange={setInput}
        fault={fault}
      />
      <div className="flex items-center gap-2">
        <Button kind="primary" type="submit" disabled={fault !== null}>
          <Play aria-hidden className="size-3.5" /> Try
        </Button>
        <span className="text-xs text-ink-3">Nothing is executed.</span>
      </div>
      {tried.failure !== undefined && <Failed failure={tried.failure} />}
      {tried.result && <TryVerdict result={tried.result} isStale={tried.asked !== question} />}
    </form>
  );
}

function composeRequest(draft: EditedAgent, tool: string, input: string): TryRequest {
  const { value: text } = draft.text;
  const { value: parents } = draft.parents;
  return {
    ...(draft.isDirty || draft.name === null ? { text } : {}),
    name: draft.name,
    ...(parents.length > 0 && { parents }),
    tool,
    input: JSON.parse(input) as unknown,
  };
}

/** What was asked, to tell whether an answer is one to another question than the page now shows. */
function writeQuestion(text: string, parents: readonly string[], tool: string, input: string): string {
  return [text, parents.join(), tool, input].join("\n");
}

function findFault(input: string): string | null {
  try {
    JSON.parse(input);
    return null;
  } catch (error) {
    return `Not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

/** The verdict large, then the reason, the risk, what it touches, and each layer's word. */
function TryVerdict({ result, isStale }: { result: TryResult; isStale: boolean }) {
  const { decision, risk, targets, layers, fault } = result;
  const { icon: Icon, tone, soft, word } = VERDICTS[decision.verdict];
  return (
    <section
      aria-label="Verdict"
      aria-live="polite"
      className={join("grid grid-cols-1 gap-3", isStale && "opacity-60")}
    >
      <div className={join("flex gap-3 rounded-lg p-3", soft)}>
        <Icon aria-hidden className={join("size-6 shrink-0", tone)} />
        <div className="min-w-0">
          <p className={join("text-base font-semibold first-letter:uppercase", tone)}>
            {word}
            {isStale && <span className="text-xs font-normal"> (before your last change)</span>}
          </p>
          <p className="text-sm wrap-anywhere text-ink">{decision.reason}</p>
        </div>
      </div>
      {fault && (
        <p className="flex items-start gap-1.5 text-xs text-warn">
          <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          <span className="wrap-anywhere">The input does not fit this tool: {fault}</span>
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-xs">
        <dt className="text-ink-3">Risk</dt>
        <dd>{risk ?? "not known"}</dd>
        <dt className="text-ink-3">Touches</dt>
        <dd className="font-mono wrap-anywhere">{targets.join(", ") || "nothing that rules cover"}</dd>
        <dt className="text-ink-3">Decided by</dt>
        <dd className="wrap-anywhere">
          {decision.layer} {decision.rule && <code className="font-mono">{decision.rule}</code>}
        </dd>
      </dl>
      <ol aria-label="What each layer says" className="grid rounded-md border border-line bg-panel text-xs">
        {layers.map(({ layer, verdict, rule }) => (
          <li key={layer} className="flex flex-wrap gap-x-3 border-line px-2 py-1 not-last:border-b">
            <span className="w-20 shrink-0">
              <VerdictMark verdict={verdict} />
            </span>
            <span className="min-w-32 flex-1 text-ink-2">{layer}</span>
            <code className="font-mono wrap-anywhere text-ink-2">{rule ?? "no rule matches"}</code>
          </li>
        ))}
      </ol>
    </section>
  );
}

type Schema = {
  type?: unknown;
  properties?: Record<string, unknown>;
  required?: unknown;
  items?: unknown;
  enum?: unknown;
  default?: unknown;
  minimum?: unknown;
};

const SAMPLES: Readonly<Record<string, unknown>> = {
  path: "src/index.ts",
  file: "src/index.ts",
  pattern: "**/*.ts",
  command: "npm test",
  url: "https://example.org/",
  query: "example",
  to: ["someone@example.org"],
  content: "text",
};

/** An input that fits a tool's schema as far as can be seen, for a person to change. */
function sampleInput(schema: unknown): unknown {
  return typeof schema === "object" && schema !== null ? sampleValue(schema, "") : {};
}

function sampleValue(schema: Schema, name: string): unknown {
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const sample = Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : undefined;
  if (type === "array") return Array.isArray(sample) ? sample : [sampleValue(asSchema(schema.items), name)];
  if (type === "number" || type === "integer") return typeof schema.minimum === "number" ? schema.minimum : 1;
  if (type === "boolean") return false;
  if (type === "object" || schema.properties) return sampleFields(schema);
  return typeof sample === "string" ? sample : "";
}

function sampleFields({ properties = {}, required }: Schema): Record<string, unknown> {
  const needed: unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties);
  const shown = needed.length > 0 ? fields.filter(([field]) => needed.includes(field)) : fields.slice(0, 1);
  return Object.fromEntries(shown.map(([field, schema]) => [field, sampleValue(asSchema(schema), field)]));
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null ? value : {};
}
