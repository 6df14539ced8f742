import { type Context, useContext } from "react";

/** What the surrounding part of the page is about; to ask outside of any is a mistake of the page itself. */
export function useRequired<Value>(context: Context<Value | null>, name: string): Value {
  const value = useContext(context);
  if (value === null) throw new Error(`there is no ${name} around this part of the page`);
  return value;
}
