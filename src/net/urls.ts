/**
 * The URL that a text is; undefined where it is none. `URL` drops control characters, and spaces at either end: another URL would be asked than is
 * shown.
 */
export const urlOf = (text: string): URL | undefined => (/\p{Cc}|^\s|\s$/u.test(text) || !URL.canParse(text) ? undefined : new URL(text));
