// A process of its own: settles the command of a journal after the process that ran it was killed.
import { settleJournal } from "./command-journal.ts";

const [, , file] = process.argv;
if (file) await settleJournal(file);
