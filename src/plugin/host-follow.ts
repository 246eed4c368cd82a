import type { FollowRoom } from "../follow/create-follow.js";
import type { Follow } from "../follow/follow.js";
import type { Following } from "./follow.js";

/** Following as requests wait for it. */
export interface AskedFollow {
  /** `locate` does not wait for ever. A stream that is open goes on when its chain answers, and sends its heartbeat meanwhile. */
  follow: FollowRoom;
  /** For a request that waits for all that it asks. */
  feed: Follow;
}

/** Following a host's own chain, which may be silent. @throws PorticoError HOST_SILENT */
export const followInTime = ({ follow, inTime: { locate, tip, after } }: Pick<Following, "follow" | "inTime">): AskedFollow => ({
  follow: { ...follow, locate },
  feed: { ...follow, locate, tip, after },
});
