import { existsSync } from "node:fs";
import { join } from "node:path";
import { PorticoError } from "../errors.js";
import { attemptsElsewhere } from "./read/ledger.js";
import { createArchive } from "./register/archive.js";
import { createRegister } from "./register/register.js";
import { openWebhookStore } from "./rows/store.js";

// In its own file: `archive.ts` names types of lmdb, which must not appear in the package's .d.ts.

/**
 * Returns all webhooks of a data folder as JSON text, with their secrets, whether or not a node runs there. `plugin.webhooks.import()` takes
 * that text.
 * @throws PorticoError NOT_READY if there are none in the folder
 */
export const exportWebhooks = async ({ dataDir }: { dataDir: string }): Promise<string> => {
  if (!existsSync(join(dataDir, "webhooks.mdb"))) throw new PorticoError("NOT_READY", `${dataDir} does not contain webhooks`);
  const { store, close } = openWebhookStore(dataDir, { deliver: false });
  try {
    const [register, attempts, nothing] = [createRegister(store), attemptsElsewhere, () => undefined];
    return createArchive({ store, register, attempts, keepPosition: nothing, onChange: nothing }).export();
  } finally {
    await close();
  }
};
