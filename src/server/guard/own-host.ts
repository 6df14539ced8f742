const NAMES = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Whether a Host header names this server. A page whose own name was made to point at this machine sends its own name,
 * so this is what stops DNS rebinding.
 */
export function isOwnHost(host: string | null, port: number): boolean {
  const named = host?.toLowerCase();
  return NAMES.some((name) => named === `${name}:${port}` || (port === 80 && named === name));
}
