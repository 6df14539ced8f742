// The tools for mail, calendar, contacts and Slack.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "@retinue/core/schema/settings";
import type { AnyTool, HostPlaces } from "@retinue/core/tools/tool";
import { locateAccountFile } from "./accounts/accounts.ts";
import { type Assistant, findAssistant } from "./assistant.ts";
import { checkAvailability, listEvents } from "./calendar/read-calendar-tools.ts";
import { createEvent, deleteEvent, updateEvent } from "./calendar/write-calendar-tools.ts";
import { getContact, listOrganizations, searchContacts, validateEmail } from "./contacts/contacts-tools.ts";
import {
  createDraft,
  getDeliveryStatus,
  getMessage,
  replyToMessage,
  searchMessages,
  sendEmail,
} from "./mail/mail-tools.ts";
import type { CallPatience, ToolDesk } from "./service-tools/call-service.ts";
import { ToolFault } from "./service-tools/tool-fault.ts";
import { analyzeConversation } from "./slack/analyze-conversation.ts";
import {
  getChannelMessages,
  getThreadReplies,
  getUserInfo,
  postMessage,
  searchSlack,
} from "./slack/slack-tools.ts";

const MAKERS: readonly ((desk: ToolDesk) => AnyTool)[] = [
  ...[sendEmail, searchMessages, getMessage, createDraft, replyToMessage, getDeliveryStatus],
  ...[createEvent, checkAvailability, listEvents, updateEvent, deleteEvent],
  ...[searchContacts, getContact, listOrganizations, validateEmail],
  ...[getChannelMessages, searchSlack, getThreadReplies, analyzeConversation, getUserInfo, postMessage],
];

/** The tools for mail, calendar, contacts and Slack over a person's services. */
export function createAssistantTools(assistant: Assistant, options: CallPatience = {}): readonly AnyTool[] {
  return MAKERS.map((make) => make({ assistant, ...options }));
}

/** The same tools as the settings and accounts want them; the runtime hands those in. */
export const assistantTools: readonly AnyTool[] = MAKERS.map((make) => ({
  ...make({ assistant: createUnopened() }),
  offered: false,
  withSettings(settings, places): AnyTool {
    const assistant = findAssistant(settings, places);
    const isSetUp = hasServices(settings, places);
    return { ...make({ assistant }), isSetUp, close: () => assistant.close() };
  },
}));

/** Whether somebody has set up an account or a folder of files, or has used the local store before. */
function hasServices({ assistant = {} }: Settings, { configDir, dataDir }: HostPlaces): boolean {
  if (assistant.folder !== undefined || assistant.accounts !== undefined) return true;
  return existsSync(locateAccountFile(configDir)) || existsSync(join(dataDir, "assistant"));
}

/** The assistant of tools that have no settings yet: it refuses every service. */
function createUnopened(): Assistant {
  return {
    open: () => Promise.reject(new ToolFault("tool_error", "no services are set up")),
    internalDomains: [],
    zone: "UTC",
    now: Date.now,
    close: () => Promise.resolve(),
  };
}
