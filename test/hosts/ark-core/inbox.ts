import { createReceiver, type Received } from "../../webhooks/receiver.js";

/** Webhook deliveries by the path of their target. */
export interface Inbox {
  readonly url: string;
  /** In order of arrival. */
  at(path: string): readonly Received[];
  /** Answers 500 for a path from now on, or accepts deliveries again. */
  refuse(path: string, refused: boolean): void;
  /** Resolves once `condition` holds; it is checked after every delivery. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export const createInbox = async (): Promise<Inbox> => {
  const receiver = await createReceiver();
  const refused = new Set<string>();
  const taken: Received[] = [];
  let waiting: { condition: () => boolean; resolve: () => void }[] = [];

  receiver.answer = (request, response) => {
    if (refused.has(request.path)) {
      response.writeHead(500).end();
      return;
    }
    taken.push(request);
    response.end();
    const held = waiting.filter(({ condition }) => condition());
    waiting = waiting.filter((one) => !held.includes(one));
    for (const { resolve } of held) resolve();
  };

  return {
    url: receiver.url,
    at: (path) => taken.filter((one) => one.path === path),
    refuse: (path, yes) => void (yes ? refused.add(path) : refused.delete(path)),
    until: async (condition) => {
      if (!condition()) await new Promise<void>((resolve) => waiting.push({ condition, resolve }));
    },
    close: receiver.close,
  };
};
