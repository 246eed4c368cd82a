/** Dates and times in ISO 8601, as far as they are taken: a day, or a time with its zone. */
export const isoDate = /^\d{4}-\d{2}-\d{2}$/;
export const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

const dateLength = "2024-05-31".length;
const dayLength = 86_400_000;

/** `Date.parse` takes February 31 for March 3. */
const isDay = (date: string): boolean => {
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
};

/** The first and the last millisecond, since 1970, of a day (UTC) or of a moment; undefined for anything else, also for a day that no month has. */
export const spanOf = (text: string): { begin: number; end: number } | undefined => {
  const isDate = isoDate.test(text);
  if ((!isDate && !isoTime.test(text)) || !isDay(text.slice(0, dateLength))) return undefined;
  const begin = Date.parse(text);
  return Number.isNaN(begin) ? undefined : { begin, end: isDate ? begin + dayLength - 1 : begin };
};
