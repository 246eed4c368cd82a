/**
 * A text without the run of one character at its end. By a loop: a regular expression such as `/0+$/` would try to match from each place of
 * a long run elsewhere, in quadratic time.
 */
export const withoutTrailing = (text: string, character: string): string => {
  let end = text.length;
  while (text[end - 1] === character) end--;
  return text.slice(0, end);
};
