import type { Risk } from "../../../schema/rights.ts";
import type { Domain } from "./assessment.ts";

/** A form of request that a domain agent knows, and what it takes to fulfil it. */
export type IntentPattern = {
  readonly pattern: RegExp;
  readonly tools: readonly string[];
  readonly riskLevel: Risk;
};

/** A pattern with the name of what is wanted, by which its slots are read. */
export type NamedPattern<Intent extends string> = IntentPattern & { readonly intent: Intent };

const low = "low" as const;
const medium = "medium" as const;
const high = "high" as const;

/** What the email agent can be asked for. */
export type EmailIntent = "status" | "reply" | "draft" | "forward" | "send" | "get" | "read" | "search";

/** Requests for mail; the first that matches counts. */
export const EMAIL_PATTERNS: readonly NamedPattern<EmailIntent>[] = [
  {
    intent: "status",
    pattern:
      /\bdelivery status\b|\b(?:was|were|did|has|have|is)\b.*\b(?:e-?mails?|mails?|messages?)\b.*\b(?:delivered|arrived?|go(?:ne)? through|went through|bounced?)\b/i,
    tools: ["gmail_search_messages", "gmail_get_delivery_status"],
    riskLevel: low,
  },
  {
    intent: "reply",
    pattern: /^(?:reply|respond|answer|write back)\b/i,
    tools: ["gmail_search_messages", "gmail_reply_to_message"],
    riskLevel: medium,
  },
  {
    intent: "draft",
    pattern:
      /^draft\b|^(?:create|write(?: up)?|prepare|compose|make|save|start)\b(?: me)?(?: up)? (?:an? )?(?:e-?mail )?draft\b/i,
    tools: ["gmail_create_draft"],
    riskLevel: medium,
  },
  { intent: "forward", pattern: /^(?:forward|pass on)\b/i, tools: [], riskLevel: high },
  {
    intent: "send",
    pattern: /send.*email.*to/i,
    tools: ["gmail_send_email", "gmail_get_delivery_status"],
    riskLevel: medium,
  },
  {
    intent: "send",
    pattern:
      /^(?:send|shoot|drop|give|fire off|write|compose|e-?mail|mail|message|notify|inform|tell|let)\b/i,
    tools: ["gmail_send_email", "gmail_get_delivery_status"],
    riskLevel: medium,
  },
  {
    intent: "get",
    pattern:
      /\b(?:get|read|open|show|fetch)\b.*\bmessage (?:with )?(?:the )?(?:id )?[\w.<>@-]*\d[\w.<>@-]*$/i,
    tools: ["gmail_get_message"],
    riskLevel: low,
  },
  {
    intent: "read",
    pattern:
      /^(?:read|open|show|get|fetch|what)\b.*\b(?:last|latest|newest|most recent)\b.*\b(?:e-?mail|mail|message)\b/i,
    tools: ["gmail_search_messages", "gmail_get_message"],
    riskLevel: low,
  },
  { intent: "search", pattern: /search.*email/i, tools: ["gmail_search_messages"], riskLevel: low },
  {
    intent: "search",
    pattern:
      /^(?:find|list|show|get|search|look|pull up|dig up|check|see|any\w*|got|are there|do i have|is there|did|has|have|which|what|when|who)\b.*(?:\b(?:e-?mails?|mails?|inbox|unread|messages?|sent|send|wrote|write|written|replied|reply|answered|responded|get back|got back|heard)\b)/i,
    tools: ["gmail_search_messages"],
    riskLevel: low,
  },
];

/** What the calendar agent can be asked for. */
export type CalendarIntent = "create" | "remind" | "check" | "list" | "update" | "delete";

/** Requests for the calendar; the first that matches counts. */
export const CALENDAR_PATTERNS: readonly NamedPattern<CalendarIntent>[] = [
  {
    intent: "delete",
    pattern: /^(?:cancel|delete|remove|scrap|drop|kill|nix|ditch|call off)\b/i,
    tools: ["calendar_list_events", "calendar_delete_event"],
    riskLevel: high,
  },
  {
    intent: "update",
    pattern:
      /^(?:move|push|bump|slide|delay|reschedule|shift|postpone|bring forward|rename|retitle|change|update)\b/i,
    tools: ["calendar_list_events", "calendar_update_event"],
    riskLevel: medium,
  },
  {
    intent: "check",
    pattern: /check.*availability/i,
    tools: ["calendar_check_availability"],
    riskLevel: low,
  },
  {
    intent: "check",
    pattern:
      /^(?:am i|are we|is \S+(?: \S+)?|will i be|check|see|find out|do i have (?:anything|something|time)|have i got (?:anything|time)|does \S+ have time)\b/i,
    tools: ["calendar_check_availability"],
    riskLevel: low,
  },
  {
    intent: "remind",
    pattern: /^(?:remind me|set (?:me )?a reminder|add a reminder)\b/i,
    tools: ["calendar_create_event"],
    riskLevel: medium,
  },
  {
    intent: "list",
    pattern:
      /^(?:list|show|what|which|when|display|get|give|how does|look at|tell me)\b.*\b(?:events?|meetings?|appointments?|calendar|agenda|schedule|day|week|happening|going on|planned|have i got|(?:i|i['’]ve) (?:got|have) on|on (?:today|tomorrow))\b/i,
    tools: ["calendar_list_events"],
    riskLevel: low,
  },
  {
    intent: "create",
    pattern: /schedule.*meeting/i,
    tools: ["calendar_check_availability", "calendar_create_event"],
    riskLevel: medium,
  },
  {
    intent: "create",
    pattern:
      /^(?:schedule|book|create|add|set up|set|arrange|organi[sz]e|plan|put|pencil in|block|grab|squeeze in|fit in|stick|do|have|invite|make|get)\b/i,
    tools: ["calendar_check_availability", "calendar_create_event"],
    riskLevel: medium,
  },
];

/** What the contacts agent can be asked for. */
export type ContactsIntent = "validate" | "organizations" | "get" | "search" | "change";

/** Requests for contacts; the first that matches counts. */
export const CONTACTS_PATTERNS: readonly NamedPattern<ContactsIntent>[] = [
  {
    intent: "change",
    pattern: /^(?:add|create|save|delete|remove|update|change|edit|merge|export|import|dump)\b/i,
    tools: [],
    riskLevel: high,
  },
  {
    intent: "validate",
    pattern:
      /^(?:validate|verify)\b|\b(?:valid|real|correct|working) (?:e-?mail )?address\b|\bis \S+@\S+ (?:valid|real|correct)\b|^check (?:if |whether )?(?:the (?:e-?mail )?address )?\S+@\S+/i,
    tools: ["contacts_validate_email"],
    riskLevel: low,
  },
  {
    intent: "organizations",
    pattern: /\b(?:list|show|which|what|all)\b.*\b(?:organi[sz]ations|companies|firms)\b/i,
    tools: ["contacts_list_organizations"],
    riskLevel: low,
  },
  {
    intent: "get",
    pattern: /\bcontact (?:with )?(?:the )?(?:id )?[\w-]*\d[\w-]*$/i,
    tools: ["contacts_get_by_id"],
    riskLevel: low,
  },
  {
    intent: "search",
    pattern:
      /\b(?:contacts?|people|everyone|anyone|who|whom|phone|number|e-?mail|address|reach|details|look up|works?|employees)\b/i,
    tools: ["contacts_search"],
    riskLevel: low,
  },
];

/** What the Slack agent can be asked for. */
export type SlackIntent = "post" | "thread" | "user" | "search" | "analyze" | "messages";

/** Requests for Slack; the first that matches counts. */
export const SLACK_PATTERNS: readonly NamedPattern<SlackIntent>[] = [
  {
    intent: "post",
    pattern:
      /^(?:post|send|tell|let|share|announce|drop|ping|message|dm|write|say|put|publish|leave|notify)\b/i,
    tools: ["slack_post_message"],
    riskLevel: medium,
  },
  {
    intent: "thread",
    pattern: /\bthreads?\b|\breplies\b/i,
    tools: ["slack_get_thread_replies"],
    riskLevel: low,
  },
  {
    intent: "user",
    pattern:
      /\buser (?:info|details|profile)\b|^who(?: is|['’]s) @?\S+|\bprofile of\b|\binfo (?:on|about|for) @/i,
    tools: ["slack_get_user_info"],
    riskLevel: low,
  },
  {
    intent: "analyze",
    pattern:
      /\bsummar\w*\b|\banaly[sz]e\b|\bdecid\w*|\bdecisions?\b|\bopen questions?\b|\baction items?\b|\bcatch me up\b|\btl;?dr\b|\bwhat(?: is|['’]s) (?:going on|happening|up|new)\b|\bdiscussed\b|\brecap\b|\bgist\b|\brundown\b|\bdigest\b|\btopics?\b/i,
    tools: ["slack_get_channel_messages", "slack_analyze_conversation"],
    riskLevel: low,
  },
  {
    intent: "search",
    pattern:
      /^(?:search|find|look for)\b|\b(?:mention\w*|talk\w* about|sa(?:y|id) about|ask\w* about|(?:talk|chatter|word|discussion)s? (?:of|about|on))\b/i,
    tools: ["slack_search_messages"],
    riskLevel: low,
  },
  {
    intent: "messages",
    pattern: /^(?:get|show|read|list|fetch|what|give)\b/i,
    tools: ["slack_get_channel_messages"],
    riskLevel: low,
  },
];

/** The patterns of every domain. */
export const INTENT_PATTERNS: Readonly<Record<Domain, readonly IntentPattern[]>> = {
  email: EMAIL_PATTERNS,
  calendar: CALENDAR_PATTERNS,
  contacts: CONTACTS_PATTERNS,
  slack: SLACK_PATTERNS,
};
