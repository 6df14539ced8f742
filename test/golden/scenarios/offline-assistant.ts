import { MAILBOX, openMailbox } from "../mailbox.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title:
    "without a model, the agents of the assistant read mail, calendar, contacts and Slack, and ask before they act",
  isParallel: true,
  files: MAILBOX,
  settings: openMailbox,
  options: { approve: async ({ tool }) => ({ allowed: tool !== "gmail_send_email", by: "Alex" }) },
  play: async ({ runtime }) => [
    await runtime.run({ agent: "email", task: "Find mails from Dana" }),
    await runtime.run({
      agent: "email",
      task: "Send a mail to priya@retinue.example that the budget is fine",
    }),
    await runtime.run({ agent: "calendar", task: "What is on my calendar tomorrow?" }),
    await runtime.run({ agent: "calendar", task: "Schedule a meeting with Priya next Tuesday 2pm" }),
    await runtime.run({ agent: "contacts", task: "Find contact info for people at Acme Corp" }),
    await runtime.run({ agent: "slack", task: "Summarize recent discussions in #project-alpha channel" }),
    await runtime.run({ agent: "main", task: "When is the review of Project Alpha?" }),
  ],
});
