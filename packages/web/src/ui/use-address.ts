import { useCallback } from "react";
import { useSearchParams } from "wouter";

/** Changes of words in the address; an empty one or null is taken out. */
type AddressChange = Readonly<Record<string, string | null | undefined>>;

/**
 * What is looked at and how lives in the address, so that it can be kept, sent and gone back to. A change takes the place of the
 * address before it unless `replace` is false.
 */
export function useAddress(): {
  params: URLSearchParams;
  change: (changes: AddressChange, options?: { replace?: boolean }) => void;
} {
  const [params, setParams] = useSearchParams();
  const change = useCallback(
    (changes: AddressChange, { replace = true }: { replace?: boolean } = {}) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(changes)) {
            if (value) after.set(name, value);
            else after.delete(name);
          }
          return after;
        },
        { replace },
      ),
    [setParams],
  );
  return { params, change };
}

/** One of a few choices, which lives in the address; the usual one is not written there. */
export function useChoice<Word extends string>(
  name: string,
  choices: readonly { value: Word }[],
  usual: Word,
  options?: { replace?: boolean },
): [chosen: Word, choose: (word: Word) => void] {
  const { params, change } = useAddress();
  const said = params.get(name);
  const chosen = choices.find(({ value }) => value === said)?.value ?? usual;
  return [chosen, (word) => change({ [name]: word === usual ? null : word }, options)];
}

/** One word of the address, and what changes it. */
export function useParam(name: string): [value: string, set: (value: string) => void] {
  const { params, change } = useAddress();
  const set = useCallback((value: string) => change({ [name]: value }), [name, change]);
  return [params.get(name) ?? "", set];
}
