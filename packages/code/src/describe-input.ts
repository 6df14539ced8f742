import { shape } from "@retinue/core/schema/shape";

/** The input of a tool, its schema and its type at once; a name that ends in `?` need not be given. */
export function describeInput<const Fields extends Parameters<typeof shape>[0]>(
  fields: Fields,
): ReturnType<typeof shape<Fields>> {
  const schema = shape(fields);
  // A model is told of what it must give only if there is anything.
  if (Object.keys(fields).some((name) => !name.endsWith("?"))) return schema;
  const { required: _, ...rest } = schema;
  return rest;
}
