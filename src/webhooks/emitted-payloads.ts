/** Payloads of blocks and transactions that the host has emitted and the store has not committed yet. */
export interface EmittedPayloads {
  put(event: string, id: string, json: string): void;
  get(event: string, id: string): string | undefined;
}

/** Forgets the oldest beyond `limit`: what it does not know any more is made from the committed block. */
export const createEmittedPayloads = (limit: number): EmittedPayloads => {
  const payloads = new Map<string, string>();
  const keyOf = (event: string, id: string): string => `${event} ${id}`;
  return {
    put: (event, id, json) => {
      const key = keyOf(event, id);
      payloads.delete(key);
      payloads.set(key, json);
      const oldest = payloads.keys().next();
      if (payloads.size > limit && !oldest.done) payloads.delete(oldest.value);
    },
    get: (event, id) => payloads.get(keyOf(event, id)),
  };
};
