import type { Sender } from "./http-sender.js";

/** Is told how an attempt ended, and how many milliseconds it took. */
export type OnAttempt = (outcome: "delivered" | "failed", milliseconds: number) => void;

/** A sender whose attempts are counted. */
export const observedSender = (sender: Sender, onAttempt: OnAttempt | undefined): Sender =>
  onAttempt === undefined
    ? sender
    : {
        ...sender,
        send: async (outgoing) => {
          const begun = performance.now();
          const answer = await sender.send(outgoing);
          onAttempt(answer.failure === null ? "delivered" : "failed", performance.now() - begun);
          return answer;
        },
      };
