import { createRequire } from "node:module";

/**
 * `@arkecosystem/crypto` signs by `bcrypto`, which has to be compiled or told that it was not. Where it was not, it signs in
 * plain JavaScript: the same signatures, some twenty times slower. Has to be imported before that package.
 */
try {
  createRequire(import.meta.url)("bcrypto/lib/native/binding");
} catch {
  process.env.NODE_BACKEND ??= "js";
  process.env.BCRYPTO_FORCE_BIGINT ??= "1"; // the faster of its two
}
