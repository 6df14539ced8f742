import type { EditorState } from "@codemirror/state";
import type {
  AgentDetail,
  AgentForm,
  AgentFormChange,
  AgentReview,
  EditResult,
} from "@retinue/core/schema/api/agent";
import { findFormDefault, listFormFields } from "@retinue/core/schema/form-fields";
import { ApiFailure, api } from "../../data/client.ts";
import { Signal } from "../../live/signal.ts";
import { keepText } from "../../live/use-kept-text.ts";

/** A state of the file: what it says, and the server's name for that state. */
type FileState = { text: string; hash: string | null };

type DraftStart = {
  /** Null for an agent that does not exist yet. */
  name: string | null;
  scope?: "project" | "user" | undefined;
  file: FileState;
  review: AgentReview | null;
  stored: StoredDraft | null;
};

const SETTLE_MS = 250;

/**
 * An agent while it is edited. One text is the truth: typing changes it, and a change of the form is written into it by
 * the server. What is shown of it is the server's review of that very text; answers on an older one are thrown away.
 */
export class EditedAgent {
  readonly name: string | null;
  readonly scope: "project" | "user" | undefined;
  readonly text: Signal<string>;
  /** The file that is edited, as it was when it was last read or saved. */
  readonly saved: Signal<FileState>;
  /** Someone else changed the file meanwhile: what it is now. */
  readonly theirs = new Signal<FileState | null>(null);
  readonly review: Signal<AgentReview | null>;
  /** The last form that a text gave, with the changes that are under way. */
  readonly form: Signal<AgentForm | null>;
  /** Agents above it, for the rights it would have there. */
  readonly parents = new Signal<readonly string[]>([]);
  /** Text and review do not belong together yet. */
  readonly isWorking = new Signal(false);
  readonly failure = new Signal<unknown>(null);
  /** The line that the raw text should scroll to. */
  readonly jump = new Signal<number | null>(null);
  readonly isRestored: Signal<boolean>;
  /** The raw editor with its history, while it is not on the page. */
  rawState: EditorState | null = null;
  #pending: AgentFormChange = {};
  #reviewed: string | null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #work: Promise<void> | null = null;

  constructor({ name, scope, file, review, stored }: DraftStart) {
    this.name = name;
    this.scope = scope ?? stored?.scope;
    const isRestored = stored !== null && stored.text !== file.text;
    this.text = new Signal(isRestored ? stored.text : file.text);
    this.saved = new Signal<FileState>(isRestored ? { text: file.text, hash: stored.hash } : file);
    if (isRestored && stored.hash !== file.hash) this.theirs.set(file);
    this.isRestored = new Signal(isRestored && name !== null);
    this.review = new Signal<AgentReview | null>(review);
    this.form = new Signal<AgentForm | null>(review?.form ?? null);
    this.#reviewed = review ? this.#question(file.text) : null;
  }

  /** Something is typed or chosen that the file does not say. */
  get isDirty(): boolean {
    return this.text.value !== this.saved.value.text || Object.keys(this.#pending).length > 0;
  }

  /** The raw text was changed by hand. */
  type(text: string): void {
    if (text === this.text.value) return;
    this.#setText(text);
    this.#soon();
  }

  /** A field of the form was changed. */
  readonly change = (change: AgentFormChange): void => {
    const { value: form } = this.form;
    if (!form) return;
    this.#pending = { ...this.#pending, ...change };
    this.form.set(applyChange(form, change));
    this.#soon();
  };

  /** Shows the rights below other parents. */
  below(parents: readonly string[]): void {
    if (parents.join() === this.parents.value.join()) return;
    this.parents.set(parents);
    this.#soon();
  }

  /** Back to what the file says. */
  discard(): void {
    const { value: theirs } = this.theirs;
    if (theirs) this.saved.set(theirs);
    this.theirs.set(null);
    this.isRestored.set(false);
    this.#pending = {};
    this.#setText(this.saved.value.text);
    void this.settled();
  }

  /** Keeps what was typed; saving then overwrites the other change. */
  keepMine(): void {
    const { value: theirs } = this.theirs;
    if (theirs) this.saved.set(theirs);
    this.theirs.set(null);
    this.#setText(this.text.value);
  }

  /** The server has read the file again, or judges it anew because other agents changed. */
  reload({ text, hash, review }: AgentDetail): void {
    const file = { text: text ?? "", hash };
    if (this.isDirty) {
      if (hash !== this.saved.value.hash) this.theirs.set(file);
      else this.theirs.set(null);
      this.#reviewed = null;
      this.#soon();
      return;
    }
    this.saved.set(file);
    this.text.set(file.text);
    this.#reviewed = this.parents.value.length === 0 ? this.#question(file.text) : null;
    if (this.#reviewed === null) this.#soon();
    else this.#take(review);
  }

  /** It was saved as it was sent. */
  markSaved(file: FileState): void {
    this.saved.set(file);
    this.theirs.set(null);
    this.isRestored.set(false);
    this.#setText(this.text.value);
    this.#reviewed = null;
    this.#soon();
  }

  /** Waits until everything typed is in the text and reviewed. */
  async settled(): Promise<AgentReview | null> {
    clearTimeout(this.#timer);
    this.isWorking.set(true);
    this.#work ??= this.#catchUp().finally(() => {
      this.#work = null;
      this.isWorking.set(false);
    });
    await this.#work;
    return this.failure.value === null ? this.review.value : null;
  }

  /** Begins, or begins again, after the page has come to it. */
  open(): void {
    if (this.#reviewed !== this.#question(this.text.value)) void this.settled();
  }

  /** The page leaves it: what was chosen last is still written into the text that is kept. */
  close(): void {
    clearTimeout(this.#timer);
    if (Object.keys(this.#pending).length > 0) void this.settled();
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.isWorking.set(true);
    this.#timer = setTimeout(() => void this.settled(), SETTLE_MS);
  }

  async #catchUp(): Promise<void> {
    try {
      this.failure.set(null);
      while (true) {
        if (Object.keys(this.#pending).length > 0) await this.#writeChange();
        else if (this.#reviewed !== this.#question(this.text.value)) await this.#askReview();
        else return;
      }
    } catch (failure) {
      // A change that was refused is not tried again; one that never arrived is.
      if (failure instanceof ApiFailure && isRefusal(failure.status)) {
        this.#pending = {};
        this.form.set(this.review.value?.form ?? this.form.value);
      }
      this.failure.set(failure);
    }
  }

  async #writeChange(): Promise<void> {
    const { value: text } = this.text;
    const change = this.#pending;
    const format = this.review.value?.format ?? "native";
    const edited = await api.post<EditResult>("/api/agents/edit", {
      text,
      format,
      change,
      ...(this.name !== null && { name: this.name }),
    });
    if (this.text.value !== text) return;
    const isOpen = ([field, value]: [string, unknown]) => change[field as keyof AgentForm] !== value;
    this.#pending = Object.fromEntries(Object.entries(this.#pending).filter(isOpen));
    this.#setText(edited.text);
  }

  async #askReview(): Promise<void> {
    const { value: text } = this.text;
    const question = this.#question(text);
    const review = await api.post<AgentReview>("/api/agents/review", {
      text,
      name: this.name,
      ...(this.scope && { scope: this.scope }),
      ...(this.parents.value.length > 0 && { parents: this.parents.value }),
    });
    if (this.#question(this.text.value) !== question) return;
    this.#reviewed = question;
    this.#take(review);
  }

  #take(review: AgentReview): void {
    this.review.set(review);
    if (!review.form) return;
    const next = applyChange(review.form, this.#pending);
    this.form.set(this.form.value ? withKnown(next, this.form.value) : next);
  }

  #setText(text: string): void {
    this.text.set(text);
    const { hash, text: before } = this.saved.value;
    if (text === before && this.name !== null) forgetDraft(this.name);
    else storeDraft(this.name, { text, hash, ...(this.scope && { scope: this.scope }) });
  }

  /** What a review answers: the text, and the parents above it. */
  #question(text: string): string {
    return `${this.parents.value.join()}\n${text}`;
  }
}

/** The change itself was refused; an expired link, too many requests or a broken server say nothing about it. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 429;
}

/** What each value of the form is while the file leaves it out. */
export const FORM_DEFAULTS: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(listFormFields().map((field) => [field.name, findFormDefault(field)])),
  prompt: "",
};

/** The form as it will be once the server has written a change down. */
function applyChange(form: AgentForm, change: AgentFormChange): AgentForm {
  const absent = Object.entries(change).flatMap(([field, value]) =>
    value === null ? [[field, FORM_DEFAULTS[field]]] : [],
  );
  return { ...form, ...(change as Partial<AgentForm>), ...Object.fromEntries(absent) };
}

/** The same form, with the very values of an earlier one where nothing differs: what shows those need not draw again. */
function withKnown(form: AgentForm, earlier: AgentForm): AgentForm {
  const same = Object.entries(form).flatMap(([field, value]) => {
    const known = earlier[field as keyof AgentForm];
    return JSON.stringify(known) === JSON.stringify(value) ? [[field, known]] : [];
  });
  return { ...form, ...Object.fromEntries(same) };
}

/** What was typed and not saved: the text, and the state of the file it began from. */
export type StoredDraft = { text: string; hash: string | null; scope?: "project" | "user" };

const nameDraft = (name: string | null) => (name === null ? "retinue.new-agent" : `retinue.agent.${name}`);

/** What this tab kept of an agent, or of a new one (`null`). */
export function storedDraft(name: string | null): StoredDraft | null {
  const text = sessionStorage.getItem(nameDraft(name));
  if (text === null) return null;
  try {
    return JSON.parse(text) as StoredDraft;
  } catch {
    return null;
  }
}

/** Keeps it in this tab. */
export function storeDraft(name: string | null, draft: StoredDraft): void {
  keepText(nameDraft(name), JSON.stringify(draft));
}

/** Forgets it. */
export function forgetDraft(name: string | null): void {
  keepText(nameDraft(name), "");
}
