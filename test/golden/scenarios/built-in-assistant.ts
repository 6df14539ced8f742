import { MAILBOX, openMailbox } from "../mailbox.ts";
import { callDelegate, callTool, callTools, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "the assistant has mail, calendar, contacts and Slack agents work for one request",
  isParallel: true,
  scripts: {
    main: [callDelegate("assistant", "Tell Dana that the review is tomorrow."), say("Dana has been told.")],
    assistant: [
      callTools([
        { tool: "delegate", input: { agent: "contacts", task: "What is Dana's address?" } },
        { tool: "delegate", input: { agent: "calendar", task: "When is the review?" } },
        { tool: "delegate", input: { agent: "slack", task: "What was said about the pilot?" } },
      ]),
      callDelegate("email", "Write to dana.ortiz@acme.example that the review is tomorrow."),
      say("Dana has a mail."),
    ],
    contacts: [
      plan("contacts_search", { name: "Dana" }),
      callTool("contacts_search", { name: "Dana" }),
      say("dana.ortiz@acme.example"),
    ],
    calendar: [
      plan("calendar_list_events", {}),
      callTool("calendar_list_events", {
        start_time: "2026-11-17T00:00:00Z",
        end_time: "2026-11-18T00:00:00Z",
      }),
      say("Tomorrow at 14:00."),
    ],
    slack: [
      plan("slack_get_channel_messages", {}),
      callTool("slack_get_channel_messages", { channel: "project-alpha" }),
      say("It starts on 1 December."),
    ],
    email: [
      plan("gmail_send_email", {}),
      callTool("gmail_send_email", {
        recipients: ["dana.ortiz@acme.example"],
        subject: "Review",
        body: "It is tomorrow at 14:00.",
      }),
      say("Sent."),
    ],
  },
  files: MAILBOX,
  settings: openMailbox,
  options: { approve: async () => ({ allowed: true, by: "Alex" }) },
  request: { agent: "main", task: "Tell Dana when the review is." },
});

/** What an intent flow begins with: one call that it needs. */
function plan(tool: string, params: object) {
  const assessment = {
    request: "as asked",
    tools: [tool],
    params,
    status: "planning",
    result: {},
    notes: "",
    sequence: [tool],
  };
  return say(JSON.stringify({ ...assessment, risk: "low", assumptions: [], missing: [], confidence: 0.9 }));
}
