import { describe, expect, test } from "vitest";
import { describeDelivery } from "../mail/mail-provider.ts";
import { readSentDelivery } from "./gmail.ts";

const sentTo = (to: string, labelIds: string[]) => ({
  labelIds,
  internalDate: "1793491199000",
  payload: { headers: [{ name: "To", value: to }] },
});

describe("what was handed over", () => {
  test("is delivered only to the owner who has it in the inbox", async () => {
    const message = sentTo("Alex <ALEX@retinue.example>, dana@acme.example", ["SENT", "INBOX"]);
    await expect(readSentDelivery(message, "alex@retinue.example")).resolves.toEqual({
      status: "sent",
      recipients: [
        { address: "ALEX@retinue.example", status: "delivered" },
        { address: "dana@acme.example", status: "sent" },
      ],
      timestamp: "2026-10-31T23:59:59.000Z",
    });
  });

  test("is sent to the owner as long as it is not in the inbox", async () => {
    const { status } = await readSentDelivery(
      sentTo("alex@retinue.example", ["SENT"]),
      "alex@retinue.example",
    );
    expect(status).toBe("sent");
  });
});

test("the worst status of several counts, and of none it is unknown", () => {
  const judge = (address: string) => ({ status: address.includes("bounced") ? "bounced" : "sent" }) as const;
  const findStatus = (...addresses: string[]) => describeDelivery(addresses, "", judge).status;
  expect(findStatus("sent@a.example", "bounced@a.example")).toBe("bounced");
  expect(findStatus("sent@a.example")).toBe("sent");
  expect(findStatus()).toBe("unknown");
});
