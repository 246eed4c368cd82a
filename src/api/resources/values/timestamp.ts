import { Type } from "@sinclair/typebox";

/** Made by `Epoch.timestamp` in src/chain/epoch.ts. */
export const TimestampResource = Type.Object(
  {
    epoch: Type.Integer({ description: "Seconds since the network's epoch." }),
    unix: Type.Integer({ description: "Seconds since 1970." }),
    human: Type.String({ description: "ISO 8601, UTC, with milliseconds." }),
  },
  { title: "Timestamp" },
);
