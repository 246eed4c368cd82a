import { Unpackr } from "msgpackr";

/** As the store's own encoding (environment.ts), and that of webhooks (databases.ts). */
const unpackr = new Unpackr({ useRecords: false, useBigIntExtension: true, moreTypes: false });

/** A record from its bytes, which may be overwritten afterwards. @throws if they are none */
export const unpackRecord = (bytes: Buffer): unknown => unpackr.unpack(Buffer.from(bytes));
