import { schemaVersion, textKey } from "../layout/keys.js";
import type { EntryCheck } from "./entry-check.js";
import { unpackRecord } from "./unpack-record.js";

const formatKey = textKey("format");

/** Whether a store has this version's layout and belongs to the network that is asked for. */
export const createFormatCheck = (nethash: string | undefined): EntryCheck => {
  let format: { schema?: unknown; nethash?: unknown } | undefined;
  return {
    entry: (database, key, value) => {
      if (database !== "meta" || !key.equals(formatKey)) return;
      try {
        format = unpackRecord(value) as typeof format;
      } catch {
        // The check of records reports that it cannot be read.
      }
    },
    end: () => {
      if (format === undefined) return { faults: ["it does not say which layout it has, and of which network it is"] };
      if (format.schema !== schemaVersion) return { faults: [`it has layout ${String(format.schema)}; this version reads layout ${schemaVersion}`] };
      const isOther = nethash !== undefined && format.nethash !== nethash;
      return {
        faults: isOther ? [`it belongs to the network ${String(format.nethash)}, not to ${nethash}`] : [],
        findings: typeof format.nethash === "string" ? { nethash: format.nethash } : {},
      };
    },
  };
};
