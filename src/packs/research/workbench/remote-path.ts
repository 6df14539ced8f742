const SESSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const MAX_PATH_CHARS = 1_024;
const MAX_NAME_BYTES = 255;

/** What is wrong with a path on the workbench; null if nothing. */
export function remotePathFault(path: string): string | null {
  const names = path.split("/");
  if (path.length > MAX_PATH_CHARS) return `remote_path has more than ${MAX_PATH_CHARS} characters`;
  if (/[\p{Cc}\\]/u.test(path)) return "remote_path must not hold control characters or backslashes";
  if (names.some((name) => name === "" || name === "." || name === ".."))
    return "remote_path must be relative, such as work/data.json, without empty parts, '.' or '..'";
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    return "a name in remote_path is too long";
  return path.isWellFormed() ? null : "remote_path is not valid text";
}

/** What is wrong with a session id of the workbench; null if nothing. */
export function remoteSessionFault(session: string): string | null {
  return SESSION.test(session) ? null : "session_id must be letters, digits, '.', '_' or '-', at most 128";
}
