import type { AgentForm, AgentFormChange } from "@retinue/core/schema/api/agent";
import {
  createContext,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import { useSignal } from "../../live/signal.ts";
import { useRequired } from "../../live/use-required.ts";
import type { EditedAgent } from "./agent-draft.ts";

type Editing = { draft: EditedAgent; readOnly: boolean };

const Context = createContext<Editing | null>(null);

/** Gives a draft to everything below it. */
export function DraftScope({ draft, readOnly, children }: Editing & { children: ReactNode }) {
  useEffect(() => {
    draft.open();
    return () => draft.close();
  }, [draft]);
  const editing = useMemo(() => ({ draft, readOnly }), [draft, readOnly]);
  return <Context value={editing}>{children}</Context>;
}

/** The draft that the surrounding scope has opened. */
export function useAgentDraft(): EditedAgent {
  return useEditing().draft;
}

/**
 * Some of the form's fields, and what changes them; while the text cannot be read, the last good ones, read-only. Only a
 * change of these draws again, so that typing into one field costs nothing elsewhere.
 */
export function useForm<Field extends keyof AgentForm>(
  ...fields: readonly [Field, ...Field[]]
): { form: Pick<AgentForm, Field>; change: (change: AgentFormChange) => void; readOnly: boolean } {
  const { draft, readOnly } = useEditing();
  const review = useSignal(draft.review);
  const last = useRef<{ whole: AgentForm; picked: Pick<AgentForm, Field> } | null>(null);
  const form = useSyncExternalStore(draft.form.subscribe, () => {
    const { value: whole } = draft.form;
    if (!whole) throw new Error("there is no form of this text");
    if (last.current === null || fields.some((field) => last.current?.whole[field] !== whole[field])) {
      last.current = { whole, picked: whole };
    }
    return last.current.picked;
  });
  return { form, change: draft.change, readOnly: readOnly || review?.form === null };
}

/** Whether something is typed or chosen that the file does not say. */
export function useIsDirty(draft: EditedAgent): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = [draft.text, draft.saved, draft.form].map((signal) => signal.subscribe(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [draft],
  );
  return useSyncExternalStore(subscribe, () => draft.isDirty);
}

/** Whether the draft can be changed at all. */
export function useIsReadOnly(): boolean {
  return useEditing().readOnly;
}

function useEditing(): Editing {
  return useRequired(Context, "draft");
}
