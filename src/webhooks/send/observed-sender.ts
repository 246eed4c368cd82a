import type { Sender } from "./http-sender.js";

/**
 * Is told how an attempt ended, `delivered` or `failed`, and how many milliseconds it took; and of each delivery that is given up: `dead`
 * after its last attempt, `superseded` where the chain has left its block.
 */
export type OnOutcome = (outcome: "delivered" | "failed" | "dead" | "superseded", milliseconds?: number) => void;

/** A sender whose attempts are counted. */
export const observedSender = (sender: Sender, onOutcome: OnOutcome | undefined): Sender =>
  onOutcome === undefined
    ? sender
    : {
        ...sender,
        send: async (outgoing) => {
          const begun = performance.now();
          const answer = await sender.send(outgoing);
          onOutcome(answer.failure === null ? "delivered" : "failed", performance.now() - begun);
          return answer;
        },
      };
