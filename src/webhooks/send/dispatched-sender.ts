import type { DeliveryDispatch } from "../../../types/webhooks.js";
import type { Sender } from "./http-sender.js";

/** A sender whose requests are sent by other processes where there are any, and by itself where not. */
export const dispatchedSender = (here: Sender, dispatch: DeliveryDispatch | undefined): Sender => {
  if (dispatch === undefined) return here;
  const ending = new AbortController();
  return {
    send: (outgoing) => dispatch.send(outgoing, () => here.send(outgoing), ending.signal),
    close: () => {
      ending.abort();
      return here.close();
    },
  };
};
