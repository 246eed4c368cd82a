import type { Logger } from "../../types/node-context.js";
import type { ReadyProblem } from "../../types/plugin.js";
import type { FullClock } from "../async/clock.js";
import { messageOf } from "../errors.js";

/** One thing that can be wrong for a while. It is logged when it begins and when it ends, however often it fails meanwhile. */
export interface Problem {
  /**
   * Begins the problem, unless it has begun; from then on, `reason` is what `health` reports. `part`: what of it fails; the problem ends
   * when every part that failed has ended.
   */
  begin(reason: string, part?: string): void;
  /** Ends the problem, or a part of it. Nothing happens if that has not begun. */
  end(part?: string): void;
  /** Undefined if nothing is wrong. */
  reason(): string | undefined;
}

/** As the log says it: "the store cannot be written" in the error that begins with it, "the store can be written again" at the end. */
interface ProblemTexts {
  /** Of the line at the beginning; default "error". */
  level?: "error" | "warn";
  /** What `/health/ready` calls it, or by which reason it calls it what; default "failing". */
  kind?: ReadyProblem | ((reason: string) => ReadyProblem);
  begun: string;
  ended: string;
}

/** A problem that has begun. */
export interface Present {
  kind: ReadyProblem | undefined;
  begun: string;
  reason: string;
}

/** What is wrong at present. */
export interface Problems {
  /** Defines a problem, which has not begun. */
  define(texts: ProblemTexts): Problem;
  /** All problems with their reasons, oldest first; undefined if nothing is wrong. For `health`. */
  present(): string | undefined;
  /** The same, one by one. */
  list(): Present[];
  /** Forgets what is wrong, without a word: for a plugin that was stopped. */
  clear(): void;
}

interface Begun {
  since: number;
  failures: number;
  /** Parts that fail. */
  parts: Set<string>;
  reason: string;
}

/** A length of time as people say it. */
export const lengthOf = (milliseconds: number): string => {
  const seconds = milliseconds / 1000;
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
};

/** `now`: milliseconds of a clock that is never set. */
export const createProblems = (logger: Logger, now: () => number = () => performance.now()): Problems => {
  /** In the order in which they began. */
  const present = new Map<ProblemTexts, Begun>();

  const define = (texts: ProblemTexts): Problem => ({
    begin: (reason, part = "") => {
      let begun = present.get(texts);
      if (begun === undefined) {
        present.set(texts, (begun = { since: now(), failures: 0, parts: new Set(), reason }));
        logger[texts.level ?? "error"](`${texts.begun}: ${reason}`);
      }
      begun.failures++;
      begun.parts.add(part);
      begun.reason = reason;
    },
    end: (part = "") => {
      const begun = present.get(texts);
      if (begun?.parts.delete(part) !== true || begun.parts.size > 0) return;
      present.delete(texts);
      const failures = begun.failures === 1 ? "1 failure" : `${begun.failures} failures`;
      logger.info(`${texts.ended}, after ${lengthOf(now() - begun.since)} and ${failures}`);
    },
    reason: () => present.get(texts)?.reason,
  });

  return {
    define,
    present: () => (present.size === 0 ? undefined : [...present].map(([{ begun }, { reason }]) => `${begun}: ${reason}`).join("; ")),
    list: () =>
      [...present].map(([{ kind, begun }, { reason }]) => ({ kind: typeof kind === "function" ? kind(reason) : kind, begun, reason })),
    clear: () => present.clear(),
  };
};

/** Milliseconds between two lines of the log that say the same. */
const toldEvery = 60_000;

/** Logs what every request may meet: at once where it is new, otherwise now and then. */
export const createErrorLog = (what: string, { logger, clock }: { logger: Logger; clock: Pick<FullClock, "monotonic"> }) => {
  let [told, at] = ["", -Infinity];
  return (error: unknown): void => {
    const [message, now] = [messageOf(error), clock.monotonic()];
    if (message === told && now - at < toldEvery) return;
    [told, at] = [message, now];
    logger.error(`${what}: ${message}`);
  };
};
