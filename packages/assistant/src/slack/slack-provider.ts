// A chat workspace: its channels, people and messages, and the interface of what serves it.

import type { ServiceProvider } from "../service-tools/tool-fault.ts";

/** A channel. */
export type SlackChannel = {
  readonly id: string;
  /** Without its `#`. */
  readonly name: string;
  /** People of another organisation read it too. */
  readonly isShared: boolean;
};

/** Somebody in the workspace. */
export type SlackUser = {
  readonly id: string;
  /** As mentioned, without its `@`. */
  readonly name: string;
  readonly realName: string;
  readonly title?: string;
  readonly email?: string;
  /** IANA name. */
  readonly zone?: string;
  readonly status?: string;
  readonly isBot: boolean;
};

/** One message. */
export type SlackMessage = {
  readonly ts: string;
  readonly channel: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string };
  /** Mentions and links in readable form. */
  readonly text: string;
  /** The thread it belongs to or begins. */
  readonly threadTs?: string;
  readonly replies?: number;
  readonly reactions: readonly { readonly name: string; readonly count: number }[];
  readonly link?: string;
};

/** Messages of a channel or thread; `more` if there are others. */
export type SlackPage = { readonly messages: readonly SlackMessage[]; readonly more: boolean };

/** A chat workspace. */
export type SlackProvider = ServiceProvider<"embedded" | "slack"> & {
  /** By `#name`, name or id; `params` with names that are near if there is none. */
  channel(name: string, signal: AbortSignal): Promise<SlackChannel>;
  /** Newest `limit` top-level messages since a moment (seconds), oldest first. */
  messages(
    channelId: string,
    query: { readonly oldest?: number; readonly latest?: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<SlackPage>;
  /** The first message of a thread and its replies, oldest first. */
  replies(channelId: string, threadTs: string, limit: number, signal: AbortSignal): Promise<SlackPage>;
  /** Newest first. */
  search(
    query: {
      readonly text: string;
      readonly channel?: string;
      readonly from?: string;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<{
    readonly messages: readonly SlackMessage[];
    readonly total: number;
    /** Set when not everything could be searched: why, and how far it went. */
    readonly note?: string;
  }>;
  /** By id, `@name`, name, real name or mail address; `params` with names that are near if there is none or several. */
  user(who: string, signal: AbortSignal): Promise<SlackUser>;
  /** Links in the text are not unfolded. `callKey` finds the message again. */
  post(
    message: {
      readonly channelId: string;
      readonly text: string;
      readonly threadTs?: string;
      readonly callKey: string;
    },
    signal: AbortSignal,
  ): Promise<SlackMessage>;
  findByCallKey(
    query: { readonly channelId: string; readonly threadTs?: string; readonly callKey: string },
    signal: AbortSignal,
  ): Promise<SlackMessage | null>;
};
