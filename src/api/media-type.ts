import type { IncomingHttpHeaders } from "node:http";
import Negotiator from "negotiator";

/**
 * The media type that a client prefers by its `Accept`, of those that there are. Of types that it likes equally, the one that it names more
 * exactly, then first; the first that there is where it accepts none, or does not say.
 */
export const preferredType = <Type extends string>(available: readonly [Type, ...Type[]], headers: IncomingHttpHeaders): Type => {
  const chosen = new Negotiator({ headers }).mediaType(available);
  return available.find((type) => type === chosen) ?? available[0];
};
