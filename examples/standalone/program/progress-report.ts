import type { IndexingProgress } from "../../../types/events.js";
import type { Logger } from "../../../types/node-context.js";

const count = (value: number): string => Math.round(value).toLocaleString("en");

/** A span of time for people: its two largest units. */
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

/** Catching up by fewer blocks is not reported: each forged block is a catch-up by one. */
const worthTelling = 100;

export const createProgressReport = (logger: Pick<Logger, "info">): ((progress: IndexingProgress) => void) => {
  /** Height at which the current catch-up was first reported. */
  let from: number | undefined;
  return (progress) => {
    const { tip, target = Infinity } = progress;
    from ??= tip.height;
    if (target - from >= worthTelling) logger.info(progressLine(progress));
    if (tip.height >= target) from = undefined;
  };
};
