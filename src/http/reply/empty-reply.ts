import type { HeaderPairs } from "./default-headers.js";
import type { Reply } from "./reply.js";

const noBytes = Buffer.alloc(0);

/** A reply without a body: a redirect, or the answer to OPTIONS. */
export const emptyReply = (status: number, headers: HeaderPairs): Reply => ({ status, plain: { bytes: noBytes, headers }, size: 0 });
