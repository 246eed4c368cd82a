/** The last payloads of blocks and transactions that the host has emitted, for when the store commits these. */
export interface EmittedPayloads {
  put(event: string, name: string, json: string): void;
  get(event: string, name: string): string | undefined;
}

/** Forgets the oldest beyond `limit` characters: a payload that it no longer has is made from the committed block. */
export const createEmittedPayloads = (limit: number): EmittedPayloads => {
  const payloads = new Map<string, string>();
  let size = 0;
  const keyOf = (event: string, name: string): string => `${event} ${name}`;

  const remove = (key: string): void => {
    size -= payloads.get(key)?.length ?? 0;
    payloads.delete(key);
  };

  return {
    put: (event, name, json) => {
      const key = keyOf(event, name);
      remove(key);
      payloads.set(key, json);
      size += json.length;
      for (const oldest of payloads.keys()) {
        if (size <= limit) break;
        remove(oldest);
      }
    },
    get: (event, name) => payloads.get(keyOf(event, name)),
  };
};
