/**
 * The example host as its soak runs it. At a signal it has garbage collected, and says within the same turn what is left: a block later there are MB
 * of new garbage. Without the code that V8 has compiled, which goes on for thousands of blocks.
 */
import v8 from "node:v8";
import "../../examples/standalone/chain/crypto-backend.js";
import { Identities } from "@arkecosystem/crypto";

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = v8.getHeapCodeStatistics();
  process.stdout.write(`held ${heapUsed + external - code - bytecode}\n`);
});

/**
 * The chain's package remembers the last 10,000 addresses that it has seen, each with the 8 KB out of which Node took its bytes: 80 MB, which a soak
 * would fill on its way. So they are there before.
 */
for (let n = 0; n < 10_000; n++) {
  const bytes = Buffer.alloc(21);
  bytes.writeUInt32BE(n, 1);
  for (let part = 0; part < 3; part++) Buffer.allocUnsafe(Buffer.poolSize / 2 - 1);
  Identities.Address.validate(Identities.Address.fromBuffer(bytes), 0);
}

await import("../../examples/standalone/main.js");
