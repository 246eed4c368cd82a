const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * The place after the decimal digits that begin at `start`. By a loop: on a text of some millions of characters `/\d+/` may overflow the
 * stack on which V8 backtracks. In a process that has compiled much code, V8 no longer optimizes expressions, and each character takes
 * twelve bytes.
 */
export const endOfDigits = (text: string, start = 0): number => {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
};

/** Whether a text is decimal digits, at least one, and nothing else. */
export const isDigits = (text: string): boolean => text !== "" && endOfDigits(text) === text.length;

/** A text without the run of one character at its start. */
export const withoutLeading = (text: string, character: string): string => {
  let start = 0;
  while (text[start] === character) start++;
  return text.slice(start);
};

/**
 * A text without the run of one character at its end. By a loop: a regular expression such as `/0+$/` would try to match from each place of
 * a long run elsewhere, in quadratic time.
 */
export const withoutTrailing = (text: string, character: string): string => {
  let end = text.length;
  while (text[end - 1] === character) end--;
  return text.slice(0, end);
};
