import { messageOf } from "../schema/error.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "permission denied by the system",
  EPERM: "permission denied by the system",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is not a folder",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
};

/** Whether what was thrown says that there is nothing at a path. */
export function isMissing(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Why a file could not be used, in words for the model and without paths of the host. */
export function fileFault(thrown: unknown, path: string): string {
  const code = (thrown as NodeJS.ErrnoException).code;
  return `${path}: ${(code && WORDS[code]) ?? messageOf(thrown)}`;
}
