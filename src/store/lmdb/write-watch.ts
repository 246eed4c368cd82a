import { messageOf, PorticoError } from "../../errors.js";
import type { Problem, Problems } from "../../operate/problems.js";
import { WriteRefused } from "./safe/transact.js";

/** Who writes: each can fail while the others do not. */
type WritePart = "blocks" | "webhooks" | "events" | "journal";

/** Is told how writes to the store go: a store that cannot be written is said in `health`, and logged when that begins and when it ends. */
export interface WriteWatch {
  /** Returns what to throw: PorticoError STORE_UNWRITABLE. */
  failed(part: WritePart, error: unknown): PorticoError;
  succeeded(part: WritePart): void;
  /** Whether a part has failed, and not succeeded since. */
  isFailing(part: WritePart): boolean;
}

/** Whether nothing can be written at present, as `health` and the log have been told. */
export const isUnwritable = (error: unknown): boolean =>
  error instanceof WriteRefused || (error instanceof PorticoError && error.code === "STORE_UNWRITABLE");

const unwritable = (error: unknown): PorticoError =>
  error instanceof PorticoError && error.code === "STORE_UNWRITABLE"
    ? error
    : new PorticoError("STORE_UNWRITABLE", `The store cannot be written: ${messageOf(error)}.`, { cause: error });

const reasonOf = (error: unknown): string =>
  messageOf(error instanceof PorticoError && error.code === "STORE_UNWRITABLE" ? (error.cause ?? error) : error);

const kind = (reason: string): "full disk" | "store cannot be written" =>
  (/\bdisk (?:is full|quota)/.test(reason) ? "full disk" : "store cannot be written");

const texts = { kind, begun: "the store cannot be written", ended: "the store can be written again" };

export const createWriteWatch = (problems: Pick<Problems, "define">): WriteWatch => {
  const problem: Problem = problems.define(texts);
  const failing = new Set<WritePart>();
  return {
    failed: (part, error) => {
      failing.add(part);
      problem.begin(reasonOf(error), part);
      return unwritable(error);
    },
    succeeded: (part) => {
      if (failing.delete(part)) problem.end(part);
    },
    isFailing: (part) => failing.has(part),
  };
};

/** Of a store that nobody watches. */
export const unwatched: WriteWatch = { failed: (_, error) => unwritable(error), succeeded: () => undefined, isFailing: () => false };
