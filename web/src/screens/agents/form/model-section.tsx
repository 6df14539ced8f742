import { NumberField } from "../controls/number-field.tsx";
import { SuggestField } from "../controls/suggest-field.tsx";
import { useForm } from "../draft/use-draft.tsx";
import { FormSection } from "./form-section.tsx";

const MODELS = ["inherit", "fast", "smart", "haiku", "sonnet", "opus"];

/** Which model answers for it. */
export function ModelSection() {
  const { form, change, readOnly } = useForm("model", "temperature", "maxOutputTokens");
  return (
    <FormSection title="Model">
      <div className="grid gap-3 @md:grid-cols-2">
        <SuggestField
          label="Model"
          value={form.model}
          choices={MODELS}
          readOnly={readOnly}
          onChange={(model) => change({ model: model === "" || model === "inherit" ? null : model })}
          hint="inherit takes the parent's. Else an alias, or provider/model-id."
        />
        <NumberField
          label="Temperature"
          value={form.temperature}
          readOnly={readOnly}
          most={2}
          placeholder="as the provider sets it"
          onChange={(temperature) => change({ temperature })}
          hint="From 0 to 2; higher is freer."
        />
        <NumberField
          label="Output tokens"
          value={form.maxOutputTokens}
          readOnly={readOnly}
          whole
          least={1}
          placeholder="as many as the model can give"
          onChange={(maxOutputTokens) => change({ maxOutputTokens })}
          hint="The most that one reply may have."
        />
      </div>
    </FormSection>
  );
}
