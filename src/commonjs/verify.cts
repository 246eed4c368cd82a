/** @ts-ignore TS1479: only with module `node20` or later does TypeScript know that Node.js can `require` an ES module. */
import portico = require("../verify/index.js");
// @ts-ignore TS1294: `export =` is how a CommonJS module declares its exports.
export = portico;
