/**
 * A message with line ends as RFC 822 has them, and one at its end. All messages are kept so: then their text can go
 * through formats with other line ends and come back the same.
 */
export function canonicalBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/\r\n|\r|\n/g, "\r\n");
  return Buffer.from(text.endsWith("\r\n") ? text : `${text}\r\n`, "latin1");
}
