import { Type } from "@sinclair/typebox";

export const NodeStatusResource = Type.Object(
  {
    synced: Type.Boolean(),
    now: Type.Integer({ description: "Height of this node." }),
    blocksCount: Type.Integer({ description: "Height of the network minus that of this node; negative if this node is ahead." }),
    timestamp: Type.Integer({ description: "Epoch time of this node's clock." }),
  },
  { title: "NodeStatus" },
);

export const NodeSyncingResource = Type.Object(
  {
    syncing: Type.Boolean(),
    blocks: Type.Integer({ description: "Height of the network minus that of this node; negative if this node is ahead." }),
    height: Type.Integer({ description: "Height of this node." }),
    id: Type.String({ description: "Id of this node's last block." }),
  },
  { title: "NodeSyncing" },
);
