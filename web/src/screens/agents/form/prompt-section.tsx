import { TextField } from "../controls/text-field.tsx";
import { useForm } from "../draft/use-draft.tsx";
import { FormSection } from "./form-section.tsx";

/** What it is told before its task. */
export function PromptSection() {
  const { form, change, readOnly } = useForm("prompt");
  return (
    <FormSection title="Prompt">
      <TextField
        label="System prompt, in Markdown"
        area="min-h-72"
        mono
        value={form.prompt}
        readOnly={readOnly}
        onChange={(prompt) => change({ prompt })}
        hint="{{today}} becomes the day the session began, {{workspace}} its folder."
      />
    </FormSection>
  );
}
