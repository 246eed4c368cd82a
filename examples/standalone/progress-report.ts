import type { IndexingProgress } from "../../types/events.js";
import type { Logger } from "../../types/node-context.js";

const count = (value: number): string => Math.round(value).toLocaleString("en");

/** A span of time as a person says it: the two largest units that it has. */
const span = (seconds: number): string => {
  const parts: [number, string][] = [
    [Math.floor(seconds / 3600), "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ];
  const from = parts.findIndex(([value]) => value > 0);
  return parts.slice(from < 0 ? 2 : from, (from < 0 ? 2 : from) + 2).map(([value, unit]) => `${value} ${unit}`).join(" ");
};

/** One line of progress: height, blocks per second, time left. */
export const progressLine = ({ tip, target, blocksPerSecond, secondsLeft }: IndexingProgress): string => {
  const of = target === undefined ? "" : ` of ${count(target)}`;
  const left = secondsLeft === undefined ? "" : `  ${span(secondsLeft)} left`;
  return `reading the chain  height ${count(tip.height)}${of}  ${count(blocksPerSecond)} blocks/s${left}`;
};

/** Catching up by a block or two needs no report. */
const worthTelling = 100;

export const createProgressReport = (logger: Logger): ((progress: IndexingProgress) => void) => {
  let from: number | undefined;
  return (progress) => {
    from ??= progress.tip.height;
    if ((progress.target ?? Infinity) - from >= worthTelling || progress.tip.height - from >= worthTelling) logger.info(progressLine(progress));
  };
};
