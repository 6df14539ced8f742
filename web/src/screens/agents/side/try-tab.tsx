import { Play } from "lucide-react";
import { useEffect, useState } from "react";
import type { TryRequest, TryResult } from "../../../../../src/schema/api/agent.ts";
import { api } from "../../../api/client.ts";
import { useTools } from "../../../api/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/button.tsx";
import { Failed, Loading } from "../../../ui/states.tsx";
import { SuggestField } from "../controls/suggest-field.tsx";
import { TextField } from "../controls/text-field.tsx";
import { useParam } from "../controls/use-param.ts";
import type { Draft } from "../draft/draft.ts";
import { useDraft } from "../draft/use-draft.tsx";
import { ParentsPicker } from "./parents-picker.tsx";
import { sampleInput } from "./sample-input.ts";
import { TryVerdict } from "./try-verdict.tsx";

/** A call that is not made: what would become of it, and why. */
export function TryTab() {
  const draft = useDraft();
  const { data, error, refetch } = useTools();
  const [chosen, setTool] = useParam("call");
  const tool = chosen || data?.tools[0]?.name || "";
  const schema = data?.tools.find(({ name }) => name === tool);
  const [input, setInput] = useState("");
  const [tried, setTried] = useState<{ result?: TryResult; failure?: unknown }>({});
  const isStale = useIsStale(draft, tool, input, tried.result);
  useEffect(() => {
    if (schema) setInput(JSON.stringify(sampleInput(schema.input), null, 2));
  }, [schema]);
  if (error) return <Failed failure={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading rows={3} label="Loading the tools" />;
  const fault = faultOf(input);
  const attempt = async () => {
    if (fault !== null || tool === "") return;
    try {
      await draft.settled();
      setTried({ result: await api.post<TryResult>("/api/agents/try", requestOf(draft, tool, input)) });
    } catch (failure) {
      setTried({ failure });
    }
  };
  return (
    <form
      aria-label="Try a call"
      className="grid grid-cols-1 gap-3 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt();
      }}
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
        <span className="text-xs text-ink-3">Nothing is carried out.</span>
      </div>
      {tried.failure !== undefined && <Failed failure={tried.failure} />}
      {tried.result && <TryVerdict result={tried.result} isStale={isStale} />}
    </form>
  );
}

function requestOf(draft: Draft, tool: string, input: string): TryRequest {
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

/** Whether the answer is one to another question than the page now shows. */
function useIsStale(draft: Draft, tool: string, input: string, result: TryResult | undefined): boolean {
  const text = useSignal(draft.text);
  const parents = useSignal(draft.parents);
  const question = [text, parents.join(), tool, input].join("\n");
  const [answered, setAnswered] = useState<{ result: TryResult | undefined; question: string }>();
  if (answered?.result !== result) {
    setAnswered({ result, question });
    return false;
  }
  return answered !== undefined && answered.question !== question;
}

function faultOf(input: string): string | null {
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
