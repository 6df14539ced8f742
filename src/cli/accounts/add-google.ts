import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { signInGoogle } from "../../packs/assistant/accounts/google-sign-in.ts";
import { RetinueError } from "../../schema/error.ts";
import type { Terminal } from "../terminal.ts";
import { askFor, askHidden } from "./ask.ts";
import { openBrowser } from "./open-browser.ts";
import { type AddOptions, idFor, refuseBadId, saveAccount, servicesIn } from "./save-account.ts";

/** Options of `accounts add google`. */
export type AddGoogleOptions = AddOptions & {
  clientId?: string;
  clientFile?: string;
  services?: string;
  address?: string;
  browser: boolean;
  authUrl?: string;
  tokenUrl?: string;
  rootUrl?: string;
};

/** How long a person may take for the page. */
const PATIENCE_MS = 5 * 60_000;

/** `retinue accounts add google`: the person consents in their browser. */
export async function addGoogle(options: AddGoogleOptions, terminal: Terminal): Promise<void> {
  refuseBadId(options.id);
  const services = servicesIn(options.services, "google");
  const client = await clientOf(options, terminal);
  const { address, authUrl, tokenUrl, rootUrl } = options;
  const signedIn = await signInGoogle({
    ...client,
    ...{ services, address, authUrl, tokenUrl, now: Date.now },
    signal: AbortSignal.timeout(PATIENCE_MS),
    visit(url) {
      const isOpened = options.browser && terminal.interactive && openBrowser(url, terminal.env);
      terminal.tell(`${isOpened ? "your browser shows" : "open"} this page to give your consent:\n${url}`);
    },
  });
  for (const service of services)
    if (!signedIn.services.includes(service))
      terminal.tell(`warning: ${service} was not consented to, and is left out`);
  const id = await idFor(options, { kind: "google", address: signedIn.address }, terminal);
  const account = {
    id,
    kind: "google" as const,
    address: signedIn.address,
    services: signedIn.services,
    addedAt: new Date().toISOString(),
    clientId: client.clientId,
    scopes: signedIn.scopes,
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(rootUrl !== undefined && { rootUrl }),
  };
  await saveAccount(account, signedIn.secrets, options, terminal);
}

type Client = { clientId: string; clientSecret?: string | undefined };

async function clientOf({ clientId, clientFile }: AddGoogleOptions, terminal: Terminal): Promise<Client> {
  if (clientFile !== undefined) {
    const client = readClient(await readText(resolve(terminal.cwd, clientFile)), clientFile);
    if (clientId !== undefined && clientId !== client.clientId)
      throw new RetinueError("usage", "--client-id and --client-file name two clients", "give one of them");
    return client;
  }
  const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET } = terminal.env;
  const id = await askFor(
    {
      value: clientId ?? (GOOGLE_CLIENT_ID || undefined),
      flag: "--client-id or --client-file",
      question: "id of your OAuth client (of the kind 'Desktop app', from console.cloud.google.com)",
    },
    terminal,
  );
  if (GOOGLE_CLIENT_SECRET || !terminal.interactive)
    return { clientId: id, clientSecret: GOOGLE_CLIENT_SECRET || undefined };
  const secret = await askHidden("its secret; empty if it has none", terminal);
  return { clientId: id, clientSecret: secret.trim() || undefined };
}

/** The client in a file as Google's console gives it. */
function readClient(text: string, file: string): Client {
  try {
    const value: unknown = JSON.parse(text);
    const client = isRecord(value) ? (value.installed ?? value.web) : undefined;
    if (isRecord(client) && typeof client.client_id === "string")
      return {
        clientId: client.client_id,
        ...(typeof client.client_secret === "string" && { clientSecret: client.client_secret }),
      };
  } catch {
    // The parser's words would quote the file.
  }
  throw new RetinueError(
    "input",
    `${file} is no file of an OAuth client`,
    "download it from console.cloud.google.com",
  );
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw new RetinueError("input", `${path} cannot be read (${thrown.code})`);
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
