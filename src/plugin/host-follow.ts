import type { FollowRoom } from "../follow/create-follow.js";
import type { Follow } from "../follow/follow.js";
import { createLimited, type HostPatience } from "../options/patient-host.js";

/** Following as requests wait for it. */
export interface AskedFollow {
  /** `locate` is held to `hostTimeout`. A stream that is open goes on when its chain answers, and sends its heartbeat meanwhile. */
  follow: FollowRoom;
  /** For a request that waits for all that it asks. */
  feed: Follow;
}

/** Following a host's own chain, which may be silent. @throws PorticoError HOST_SILENT */
export const followInTime = (follow: FollowRoom, patience: HostPatience): AskedFollow => {
  const limited = createLimited(patience);
  const asked: FollowRoom = { ...follow, locate: limited("chain", follow.locate) };
  return { follow: asked, feed: { ...asked, tip: limited("chain", follow.tip), after: limited("chain", follow.after) } };
};
