/** The same as in package.json; a test checks that. */
export const version = "0.1.0";
