/**
 * A process whose files may not grow beyond 64 KB: `sh -c "ulimit -f 128; exec node full-journal-process.ts DIR"`. It prints
 * the results of appending to a journal what does not fit and then what does.
 */
import { messageOf } from "../../src/errors.js";
import { openEventJournal } from "../../src/store/follow/event-journal.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , dataDir = ""] = process.argv;
const journal = openEventJournal(dataDir);
const append = (number: number, length: number): string => {
  try {
    journal.append({ number, at: 1_000 + number, event: "peer.added", json: JSON.stringify("x".repeat(length)) });
    return "written";
  } catch (error) {
    return messageOf(error);
  }
};
process.stdout.write(JSON.stringify([append(1, 10), append(2, 100_000), append(2, 20), append(3, 30)]));
