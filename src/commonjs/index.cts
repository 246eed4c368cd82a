/** @ts-ignore TS1479: TypeScript knows only from `node20` on that Node.js can `require` an ES module. */
import portico = require("../index.js");
// @ts-ignore TS1294: what a CommonJS module gives is written so.
export = portico;
