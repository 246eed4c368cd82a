import { createRequire } from "node:module";

/**
 * `@arkecosystem/crypto` signs with `bcrypto`, whose native code has to be compiled; if it was not, `bcrypto` must be told to use plain
 * JavaScript, which gives the same signatures some twenty times more slowly. Import this before that package.
 */
try {
  createRequire(import.meta.url)("bcrypto/lib/native/binding");
} catch {
  process.env.NODE_BACKEND ??= "js";
  process.env.BCRYPTO_FORCE_BIGINT ??= "1"; // the faster of its two implementations of big numbers
}
