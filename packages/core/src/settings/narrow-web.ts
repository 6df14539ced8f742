import type { WebSettings } from "../schema/settings.ts";

/** A project may make pages smaller and nothing else. */
export function narrowWeb(web: WebSettings, by: Partial<WebSettings>): WebSettings {
  return { ...web, maxPageMb: Math.min(web.maxPageMb, by.maxPageMb ?? web.maxPageMb) };
}

/** The keys of a project's `web` section that would open private addresses or change who asks. */
export function wideningInWeb(web: Readonly<Record<string, unknown>>): string[] {
  return ["allowHosts", "userAgent"].filter((key) => web[key] !== undefined);
}
