import { type JsonObject, recordIn, textIn } from "../service-tools/read-json.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { SlackProvider } from "../slack/slack-provider.ts";
import { CALL_EVENT, isSlackTs, readCallKey } from "../slack/slack-text.ts";
import { fetchHistory, fetchThread, isKnown } from "./history.ts";
import { type Directory, readSlackMessage, readSlackMessages } from "./read-message.ts";
import type { SlackApi } from "./slack-api.ts";

/** Beyond this Slack would cut the text and still post it. */
const MAX_TEXT = 40_000;
const LOOKED_AT = 200;
const LOOKED_AT_IN_THREAD = 2_000;
/** Slack's own marks and entities, which stay, or one of the three characters that it would take for one. */
const MARKS =
  /<(?:@[UW][A-Z0-9]+|#[CG][A-Z0-9]+(?:\|[^<>|]*)?|![a-z]+(?:\^[^<>|]*)?(?:\|[^<>|]*)?|(?:https?|mailto):[^<>|\s]+(?:\|[^<>|]*)?)>|&(?:amp|lt|gt);|[&<>]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** A text as Slack shows it unchanged: `a<b` is no link. */
export function escapeText(text: string): string {
  return text.replace(MARKS, (found) => ENTITIES[found] ?? found);
}

/** Creates what posts a message and finds it again. */
export function createPosting(
  api: SlackApi,
  directory: Directory,
): Pick<SlackProvider, "post" | "findByCallKey"> {
  /** The message is out; what only makes it nicer to read must not make it look lost. */
  async function describe(raw: JsonObject, channelId: string, signal: AbortSignal) {
    const known = {
      raw,
      channel: { id: channelId, name: directory.channels.getName(channelId) ?? channelId },
    };
    try {
      const channel = { id: channelId, name: await directory.channels.learn(channelId, signal) };
      const [message] = await readSlackMessages([{ raw, channel }], directory, signal);
      if (message) return message;
    } catch {}
    return readSlackMessage(known, directory, { url: undefined, teamId: undefined, enterpriseId: undefined });
  }

  return {
    async post({ channelId, text, threadTs, callKey }, signal) {
      if (text.length > MAX_TEXT) {
        throw new ToolFault(
          "params",
          `the text has ${text.length} characters; Slack takes at most ${MAX_TEXT}`,
        );
      }
      if (threadTs !== undefined && !isSlackTs(threadTs))
        throw new ToolFault("params", "thread_ts names no thread");
      const args = {
        channel: channelId,
        text: escapeText(text),
        thread_ts: threadTs,
        mrkdwn: true,
        link_names: false,
        unfurl_links: false,
        unfurl_media: false,
        metadata: { event_type: CALL_EVENT, event_payload: { key: callKey } },
      };
      const answer = await api.call("chat.postMessage", args, signal, {
        knownChannel: isKnown(directory, channelId),
      });
      const ts = textIn(answer.ts);
      if (ts === undefined) throw new ToolFault("tool_error", "Slack did not say which message it posted");
      const raw = { thread_ts: threadTs, text, ...recordIn(answer.message), ts };
      return describe(raw, textIn(answer.channel) ?? channelId, signal);
    },

    async findByCallKey({ channelId, threadTs, callKey }, signal) {
      const place = { channelId, isKnown: isKnown(directory, channelId), withMetadata: true };
      const { raws } =
        threadTs === undefined
          ? await fetchHistory(api, { ...place, range: { limit: LOOKED_AT } }, signal)
          : await fetchThread(api, { ...place, threadTs, limit: LOOKED_AT_IN_THREAD }, signal);
      const raw = raws.find((one) => readCallKey(one.metadata) === callKey);
      return raw ? describe(raw, channelId, signal) : null;
    },
  };
}
