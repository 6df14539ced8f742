import { join } from "node:path";
import type { Settings } from "./retinue.ts";

const user = (id: string, name: string, realName: string) => ({
  id,
  name,
  real_name: realName,
  tz: "Europe/Berlin",
  is_bot: false,
  profile: { real_name: realName, display_name: name, email: `${name}@retinue.example` },
});
const said = (by: string, text: string, ts: string) => ({ type: "message", user: by, text, ts });

/** A person's mail, calendar, contacts and Slack as files of the project. */
export const MAILBOX: Readonly<Record<string, string>> = {
  "mailbox/owner.json": JSON.stringify({
    name: "Alex Kim",
    address: "alex@retinue.example",
    zone: "Europe/Berlin",
  }),
  "mailbox/contacts.vcf": `BEGIN:VCARD
VERSION:4.0
UID:person-priya
FN:Priya Nair
ORG:Retinue
EMAIL;TYPE=work;PREF=1:priya@retinue.example
END:VCARD
BEGIN:VCARD
VERSION:4.0
UID:person-dana
FN:Dana Ortiz
ORG:Acme Corp
EMAIL;TYPE=work;PREF=1:dana.ortiz@acme.example
END:VCARD
`,
  "mailbox/mail/01-pilot.eml": `From: Dana Ortiz <dana.ortiz@acme.example>
To: Alex Kim <alex@retinue.example>
Subject: Pilot scope for Project Alpha
Date: Wed, 04 Nov 2026 16:05:00 +0100
Message-ID: <acme-pilot-1@acme.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello Alex,

for the pilot we would start with two teams, 40 people, from 1 December. Could we meet next week?

Best,
Dana Ortiz
`,
  "mailbox/mail/02-budget.eml": `From: Priya Nair <priya@retinue.example>
To: Alex Kim <alex@retinue.example>
Subject: Q3 budget
Date: Thu, 12 Nov 2026 09:30:00 +0100
Message-ID: <budget-1@retinue.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hi Alex,

the Q3 budget is 48,000 EUR. Please confirm it by Friday.

Priya
`,
  "mailbox/calendar/calendar.ics": `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Golden//EN
BEGIN:VEVENT
UID:review@retinue.example
DTSTAMP:20261101T080000Z
DTSTART:20261117T130000Z
DTEND:20261117T140000Z
SUMMARY:Review of Project Alpha
END:VEVENT
END:VCALENDAR
`,
  "mailbox/slack/channels.json": JSON.stringify([
    {
      id: "C01ALPHA",
      name: "project-alpha",
      is_general: false,
      members: ["U01ALEX", "U02PRIYA"],
      topic: { value: "Pilot" },
    },
  ]),
  "mailbox/slack/users.json": JSON.stringify([
    user("U01ALEX", "alex", "Alex Kim"),
    user("U02PRIYA", "priya", "Priya Nair"),
  ]),
  "mailbox/slack/project-alpha/2026-11-13.json": JSON.stringify([
    said("U02PRIYA", "The pilot starts on 1 December. Who writes the announcement?", "1794556860.000100"),
    said("U01ALEX", "I will. Release 0.9 is decided.", "1794557860.000100"),
  ]),
};

/** The settings that open that mailbox. */
export function openMailbox(projectDir: string): Partial<Settings> {
  return { assistant: { folder: join(projectDir, "mailbox"), timezone: "Europe/Berlin" } };
}
