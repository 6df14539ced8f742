import { SHORTEST_SECRET } from "./secret-forms.ts";

const SECRET_NAME =
  /(?:^|_)(?:KEY|APIKEY|TOKEN|PAT|SECRET|SECRETS|PASSWORD|PASSWD|PASS|PWD|PASSPHRASE|CREDENTIAL|CREDENTIALS|AUTH|COOKIE|DSN|WEBHOOK)(?:_|\d*$)|(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$|CONNECTION_?STRING|DATABASE_URL|(?:MONGO|REDIS|POSTGRES|AMQP)\w*_UR[IL]$/i;
const HARMLESS_NAME =
  /^(?:PWD|OLDPWD)$|_(?:FILE|PATH|DIR|URL|HOST|PORT|NAME|ID|TYPE|METHOD|SOCK|TTL|ENABLED|PROVIDER|REGION|ALGORITHM)$/i;
const NAMES_A_SECRET_URL = /DATABASE_URL|(?:MONGO|REDIS|POSTGRES|AMQP)\w*_URL$|WEBHOOK_URL$/i;
const NO_SECRET =
  /^(?:[\d.,:+-]+|true|false|yes|no|on|off|none|null|undefined|[~.]{0,2}\/.*|[A-Za-z]:\\.*)$/i;
/** Words without a digit or a capital inside; people's settings, not random values. */
const PLAIN_WORDS = /^[A-Za-z]?[a-z]*(?:[ _.-][a-z]+)*$|^[A-Z]+(?:[ _.-][A-Z]+)*$/;

/** The values of those variables whose names promise a secret, longest first. */
export function secretsFromEnvironment(env: Readonly<Record<string, string | undefined>>): string[] {
  const found = new Set<string>();
  for (const [name, raw] of Object.entries(env)) {
    const value = raw?.trim() ?? "";
    if (isSecretName(name) && isSecretValue(value)) found.add(value);
  }
  return [...found].sort((a, b) => b.length - a.length);
}

function isSecretName(name: string): boolean {
  if (NAMES_A_SECRET_URL.test(name)) return true;
  return SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
}

function isSecretValue(value: string): boolean {
  if (value.length < SHORTEST_SECRET || NO_SECRET.test(value)) return false;
  return !(PLAIN_WORDS.test(value) && value.length < 20);
}
