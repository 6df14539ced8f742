import { isRecord } from "../schema/json-object.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { describeAsSchema } from "../schema/number-range.ts";
import { SETTING_TABLE, type Setting, type SettingTable } from "../schema/settings.ts";
import { byName } from "../schema/shape.ts";

/** What a settings file may say. */
export const SETTINGS_SCHEMA: JsonSchema = describeSection(SETTING_TABLE);

/** An object with these keys; others are told of when a file is checked, and do no harm. */
function describeSection(parts: SettingTable, required: readonly string[] = []): JsonSchema {
  const properties = Object.entries(parts).map(([key, setting]) => [
    key,
    { description: setting.about, ...describeSetting(setting) },
  ]);
  return { type: "object", properties: Object.fromEntries(properties), required };
}

function describeSetting({ schema, range, parts, each, required }: Setting): JsonSchema {
  if (range) return describeAsSchema(range);
  if (parts) return describeSection(parts);
  return each ? byName(describeSection(each, required)) : { ...schema };
}

/** The same for editors, which also mark keys that there are not; it is published as docs/settings.schema.json. */
export const PUBLISHED_SETTINGS_SCHEMA: JsonSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Settings of Retinue",
  description:
    "settings.json in the user's configuration folder, or in .retinue of a project, which may only narrow the user's.",
  ...withoutOthers(SETTINGS_SCHEMA),
};

function withoutOthers(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties: others } = schema;
  return {
    ...schema,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, each]) => [key, isRecord(each) ? withoutOthers(each) : each]),
      ),
      additionalProperties: false,
    }),
    ...(isRecord(others) && { additionalProperties: withoutOthers(others) }),
  };
}
