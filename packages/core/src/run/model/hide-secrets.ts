import { endsWhole } from "../../models/wire/finish-reason.ts";
import { parseJson } from "../../tools/validate-input.ts";
import type { LoopPorts } from "../ports.ts";
import type { Reply } from "./read-stream.ts";

/** Hides secrets in all of a reply that is kept, before the first write; a tool still gets what the model wrote. */
export function hideSecrets(reply: Reply, { redactor }: Pick<LoopPorts, "redactor">): void {
  const hide = endsWhole(reply.finish) ? redactor.redact : redactor.redactCut;
  reply.text = hide(reply.text);
  // A provider signs its reasoning and takes it back only unchanged, so what holds a secret is left out.
  reply.reasoning = reply.reasoning.filter(({ text }) => redactor.redact(text) === text);
  if (reply.modelId) reply.modelId = redactor.redact(reply.modelId);
  for (const call of reply.calls) {
    call.tool = redactor.redact(call.tool);
    if (redactor.redact(call.callId) !== call.callId) call.callId = "";
    const hidden = hiddenInput(hide(call.input), redactor);
    if (hidden === call.input) continue;
    call.rawInput = call.input;
    call.input = hidden;
  }
}

/** A secret can also be spelled with the escapes of JSON, which only the parsed value shows. */
function hiddenInput(hidden: string, redactor: LoopPorts["redactor"]): string {
  if (!hidden.includes("\\")) return hidden;
  const parsed = parseJson(hidden);
  if (!parsed.ok) return hidden;
  const value = redactor.redactJson(parsed.value);
  return value === parsed.value ? hidden : JSON.stringify(value);
}
