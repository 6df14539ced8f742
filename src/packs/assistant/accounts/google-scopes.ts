import type { Service } from "./account.ts";

const GOOGLE = "https://www.googleapis.com/auth/";

/** Tells whose account it is; nothing else. */
const IDENTITY = ["openid", `${GOOGLE}userinfo.email`];

/** The least that the tools of each domain need: reading, drafts and sending; events and free time; reading contacts. */
const NEEDED: Readonly<Record<Exclude<Service, "slack">, readonly string[]>> = {
  mail: [`${GOOGLE}gmail.readonly`, `${GOOGLE}gmail.compose`],
  calendar: [`${GOOGLE}calendar.events`, `${GOOGLE}calendar.freebusy`],
  contacts: [`${GOOGLE}contacts.readonly`],
};

/** A domain that Google can serve. */
export type GoogleService = keyof typeof NEEDED;

/** What to ask the person's consent for. */
export function scopesFor(services: readonly GoogleService[]): string[] {
  return [...IDENTITY, ...services.flatMap((service) => NEEDED[service])];
}

/** The domains that were consented to in full; a person may have left some out. */
export function servicesGranted(
  services: readonly GoogleService[],
  granted: readonly string[],
): GoogleService[] {
  return services.filter((service) => NEEDED[service].every((scope) => granted.includes(scope)));
}
