/** Where a value stood: what came before it, from its name on, and the character after it. */
export type Surroundings = { before: string; after: string };

const PLACEHOLDER =
  /^(?:your|my[_-]|example|change_?me|placeholder|dummy|undefined|null|none|nil|true|false|string|number|boolean|required|optional|enabled|disabled|invalid|missing|expired|generated|password|secret|token|process\.|u?int\d|float\d|big(?:u?)int|base64|utf-?8|sha-?\d|md5|[x*.•_-]+$|\.{0,2}\/|[a-z]+:\/\/|\$|%[sd{(])/i;
const IDENTIFIER_CALL = /[(.[]/;
const CODE_AFTER = /[,)}\]]/;

/** Whether a value that is assigned to a secret-looking name is itself one, and not code, a placeholder or prose. */
export function looksSecret(value: string, { before, after }: Surroundings): boolean {
  if (value.length < 6 || PLACEHOLDER.test(value)) return false;
  const quoted = /["'`]$/.test(before);
  if (!quoted && IDENTIFIER_CALL.test(after)) return false;
  if (!/[A-Za-z]/.test(value)) return /^\d+$/.test(value) && /pass|pwd/i.test(before) && value.length >= 6;
  if (/\d/.test(value) || /[!@#%^*~?+]/.test(value)) return true;
  if (value.length < 8 || /[^A-Za-z]/.test(value) || /[a-z][A-Z]/.test(value)) return false;
  return quoted || (/=$/.test(before) && !CODE_AFTER.test(after));
}
