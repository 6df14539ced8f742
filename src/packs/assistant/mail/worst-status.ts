import type { DeliveryStatus } from "./mail-provider.ts";

const WORST_FIRST: readonly DeliveryStatus[] = [
  "rejected",
  "bounced",
  "unknown",
  "queued",
  "sent",
  "delivered",
];

/** The worst status of several recipients; `unknown` of none. */
export function worstStatus(recipients: readonly { readonly status: DeliveryStatus }[]): DeliveryStatus {
  return WORST_FIRST.find((each) => recipients.some(({ status }) => status === each)) ?? "unknown";
}
