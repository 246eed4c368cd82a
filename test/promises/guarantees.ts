/** The README's promises, each with the tests that show it and their long forms. */
export const promises: readonly { promise: string; tests: readonly string[]; long: readonly string[] }[] = [
  {
    promise: "A crash loses no block, no delivery and no file of the lake.",
    tests: ["promises/kills.test.ts", "webhooks/fault.test.ts"],
    long: ["kills", "receiver-kills", "faults"],
  },
  {
    promise: "After any fork, the state equals that of the host's chain, and every follower learns of the reverted blocks.",
    tests: ["promises/schedules.test.ts", "follow/random-forks.test.ts"],
    long: ["follow"],
  },
  {
    promise: "A reply at an earlier height is byte for byte the reply of that time.",
    tests: ["e2e/at-height-forks.test.ts", "store/history.test.ts"],
    long: ["at-height", "history"],
  },
  {
    promise: "Invalid input is refused with a 4xx. It causes no 5xx, no crash and no delay for other clients.",
    tests: ["faults/openapi-fuzz.test.ts", "http/fuzz.test.ts", "faults/held-loop.test.ts"],
    long: ["fuzz", "held-loop"],
  },
  {
    promise: "Under a flood, excess requests are refused with 429 or 503, and the memory they took is released.",
    tests: ["faults/floods.test.ts", "http/body-bounds.test.ts"],
    long: ["floods"],
  },
  {
    promise: "Disk errors and corruption are reported, and data known to be corrupt is not served.",
    tests: ["faults/failing-disk.test.ts", "faults/damage.test.ts"],
    long: ["damage"],
  },
  {
    promise: "Webhook routes require a token, and webhooks reach no private address unless allowed.",
    tests: ["promises/intruders.test.ts", "webhooks/http-sender.test.ts"],
    long: [],
  },
  {
    promise: "Secrets are shown once, when they are created.",
    tests: ["promises/secrets.test.ts"],
    long: [],
  },
  {
    promise: "The console shows chain data as text, never as markup.",
    tests: ["console/console.test.ts"],
    long: [],
  },
  {
    promise: "Dependencies are permissively licensed, run no install scripts and have no known vulnerabilities.",
    tests: ["promises/dependencies.test.ts"],
    long: [],
  },
];

/** What Portico guarantees, sentence by sentence, with the tests that show it: files under `test` with titles. A title that ends with … is cut. */

export interface Guarantee {
  sentence: string;
  tests: readonly (readonly [file: string, title: string])[];
}

export const guarantees: Readonly<Record<"the node" | "following" | "webhooks", readonly Guarantee[]>> = {
  "the node": [
    {
      sentence: "A crash loses no block and no file of the lake.",
      tests: [
        ["promises/kills.test.ts", "has, after …"],
        ["lake/killed.test.ts", "goes on with it …"],
      ],
    },
    {
      sentence: "A crash loses no delivery, and receivers end with the right state.",
      tests: [
        ["webhooks/fault.test.ts", "loses no delivery in …"],
        ["live/receiver-kills.long.ts", "agree on every wallet after …"],
      ],
    },
    {
      sentence: "A killed replica resumes where it was.",
      tests: [
        ["replica/killed.test.ts", "are killed, stopped and …"],
      ],
    },
    {
      sentence: "Forks of any depth, however badly announced, end in the state of the host's chain.",
      tests: [
        ["promises/schedules.test.ts", "leaves a state that …"],
        ["follow/random-forks.test.ts", "end with the node's …"],
        ["live/random-forks.test.ts", "end with its state …"],
      ],
    },
    {
      sentence: "Every route answers any input as its OpenAPI document says, within 250 ms.",
      tests: [
        ["faults/openapi-fuzz.test.ts", "get replies that it …"],
      ],
    },
    {
      sentence: "Raw bytes on a connection cause no error.",
      tests: [
        ["http/fuzz.test.ts", "cause no error if …"],
        ["http/fuzz.test.ts", "are answered in JSON …"],
      ],
    },
    {
      sentence: "No request without a webhook token holds the event loop for more than 25 ms.",
      tests: [
        ["faults/held-loop.test.ts", "is held for at most …"],
        ["http/body-bounds.test.ts", "by the body of …"],
      ],
    },
    {
      sentence: "Eleven kinds of flood are refused and leave nothing behind.",
      tests: [
        ["faults/floods.test.ts", "is answered beside …"],
      ],
    },
    {
      sentence: "Work is limited per address, as requests are.",
      tests: [
        ["http/rate-limit.test.ts", "counts work, too: a …"],
      ],
    },
    {
      sentence: "Connections and unread bodies are bounded; slow bodies are cut off.",
      tests: [
        ["http/body-bounds.test.ts", "by unfinished bodies is …"],
        ["http/body-bounds.test.ts", "by a body that …"],
        ["http/body-bounds.test.ts", "by connections is bounded …"],
      ],
    },
    {
      sentence: "Searches get a fixed share of the event loop.",
      tests: [
        ["store/search.test.ts", "share the turns, and …"],
        ["store/search.test.ts", "are refused when too …"],
      ],
    },
    {
      sentence: "Patterns are matched against long texts in a thread.",
      tests: [
        ["webhooks/pattern-worker.test.ts", "hold the event loop …"],
        ["webhooks/conditions.test.ts", "tries patterns at once …"],
      ],
    },
    {
      sentence: "Thousands of webhooks are matched with a block within 5 ms.",
      tests: [
        ["webhooks/pattern-worker.test.ts", "matches a block of 150 transactions for 10,000 …"],
      ],
    },
    {
      sentence: "A block of 100,000 transactions holds the loop for less than 50 ms.",
      tests: [
        ["faults/large-block.long.ts", "holds no turn of …"],
      ],
    },
    {
      sentence: "Calls to the host time out, and `stop()` does not wait for them.",
      tests: [
        ["http/body-bounds.test.ts", "by a pool that …"],
      ],
    },
    {
      sentence: "A receiver that floods headers or interim replies is cut off.",
      tests: [
        ["webhooks/http-sender.test.ts", "cuts off a target …"],
      ],
    },
    {
      sentence: "A full disk is reported, and the node resumes when there is room.",
      tests: [
        ["faults/failing-disk.test.ts", "because it is full …"],
      ],
    },
    {
      sentence: "A missing or read-only disk is reported.",
      tests: [
        ["faults/failing-disk.test.ts", "because it is unmounted …"],
        ["faults/failing-disk.test.ts", "because its file system …"],
      ],
    },
    {
      sentence: "A slow disk delays no reads.",
      tests: [
        ["faults/failing-disk.test.ts", "because it has become …"],
      ],
    },
    {
      sentence: "A truncated store is refused without crashing the process.",
      tests: [
        ["store/truncated.test.ts", "is refused at the …"],
      ],
    },
    {
      sentence: "Random damage is found by `--verify`, or has changed nothing.",
      tests: [
        ["faults/damage.test.ts", "is found by verifyStore …"],
        ["faults/damaged-record.test.ts", "that …"],
      ],
    },
    {
      sentence: "A store has one writer.",
      tests: [
        ["store/store.test.ts", "is written by one …"],
        ["store/store.test.ts", "is opened by only …"],
      ],
    },
    {
      sentence: "A store of another network or version is refused unchanged.",
      tests: [
        ["store/store.test.ts", "refuses the store of …"],
        ["store/reader-chain.test.ts", "is refused when it has …"],
      ],
    },
    {
      sentence: "Memory, handles, size and work stay constant over a long run.",
      tests: [
        ["promises/soak.test.ts", "holds no more, and …"],
      ],
    },
    {
      sentence: "Nobody gets in without a token.",
      tests: [
        ["promises/intruders.test.ts", "is refused with any …"],
        ["promises/intruders.test.ts", "is refused although the …"],
        ["webhooks/tokens.test.ts", "take as long to …"],
      ],
    },
    {
      sentence: "Methods, paths, origins and nested requests cannot be disguised.",
      tests: [
        ["promises/intruders.test.ts", "cannot have one method …"],
        ["promises/intruders.test.ts", "gets nowhere by the …"],
        ["promises/intruders.test.ts", "is not let in …"],
        ["promises/intruders.test.ts", "cannot hide a request …"],
      ],
    },
    {
      sentence: "Webhooks reach no private address by name, number, redirect or DNS rebinding.",
      tests: [
        ["promises/intruders.test.ts", "who has a token …"],
        ["webhooks/http-sender.test.ts", "does not follow a redirect"],
        ["webhooks/http-sender.test.ts", "to a name that resolves to another …"],
      ],
    },
    {
      sentence: "The console never runs chain data.",
      tests: [
        ["console/console.test.ts", "shows what is written …"],
      ],
    },
    {
      sentence: "Secrets are in no reply, log, delivery, lake file or digest.",
      tests: [
        ["promises/secrets.test.ts", "are in no reply …"],
        ["promises/secrets.test.ts", "are in no line …"],
        ["promises/secrets.test.ts", "are in no delivery …"],
        ["promises/secrets.test.ts", "are in no file …"],
        ["promises/secrets.test.ts", "do not change the digest"],
      ],
    },
    {
      sentence: "Dependencies are permissively licensed, run no install scripts and have no known vulnerabilities.",
      tests: [
        ["promises/dependencies.test.ts", "have licences that ask …"],
        ["promises/dependencies.test.ts", "run no install scripts …"],
        ["promises/dependencies.test.ts", "have no version that …"],
      ],
    },
  ],
  following: [
    {
      sentence: "A reader that applies and reverts what it receives ends with the node's state.",
      tests: [
        ["live/random-forks.test.ts", "end with its state …"],
        ["follow/random-forks.test.ts", "end with the node's …"],
      ],
    },
    {
      sentence: "A cursor works at another node.",
      tests: [
        ["replica/replica.test.ts", "answers a reader with …"],
      ],
    },
    {
      sentence: "An unknown cursor is refused, with a place to continue from.",
      tests: [
        ["live/live.test.ts", "tell of a fork …"],
      ],
    },
    {
      sentence: "A disconnected client resumes, also after a restart of the node.",
      tests: [
        ["live/live.test.ts", "go on where Last-Event-ID …"],
        ["live/ledger.test.ts", "applies no block twice …"],
      ],
    },
    {
      sentence: "The feed never splits a group.",
      tests: [
        ["live/live.test.ts", "page through the chain …"],
      ],
    },
    {
      sentence: "Events of a block that was reverted and applied again have new ids.",
      tests: [
        ["follow/again.test.ts", "is told of as applied …"],
        ["follow/again.test.ts", "is told of as reverted …"],
      ],
    },
    {
      sentence: "Host events are kept once each, also through a crash.",
      tests: [
        ["follow/host-feed.test.ts", "are taken into it …"],
        ["follow/host-feed.test.ts", "wait in the journal …"],
      ],
    },
    {
      sentence: "Host events take bounded space, and a reader that missed some is told.",
      tests: [
        ["follow/host-log.test.ts", "takes no more bytes …"],
        ["follow/host-log.test.ts", "tells a reader clearly …"],
      ],
    },
    {
      sentence: "With `confirmations`, a block reverted earlier is never sent.",
      tests: [
        ["live/live.test.ts", "wait for events, and …"],
      ],
    },
    {
      sentence: "Streams send something at least every 15 s.",
      tests: [
        ["live/heartbeat.test.ts", "sends a comment, or …"],
        ["live/heartbeat.test.ts", "sends it at a …"],
        ["live/heartbeat.test.ts", "sends an empty line …"],
      ],
    },
    {
      sentence: "At most `maxStreams` are open.",
      tests: [
        ["live/live.test.ts", "are refused where as …"],
        ["faults/kept-open.test.ts", "no more streams are …"],
      ],
    },
    {
      sentence: "A slow client is disconnected and resumes from its cursor without a gap.",
      tests: [
        ["live/ways.test.ts", "are cut off where …"],
      ],
    },
    {
      sentence: "Streams work in every kind of host, and for pages of other origins.",
      tests: [
        ["live/ways.test.ts", "through …"],
        ["hosts/servers.test.ts", "streams events to a …"],
      ],
    },
    {
      sentence: "Blocks of `/changes` equal those of chain files.",
      tests: [
        ["live/live.test.ts", "give whole blocks exactly …"],
      ],
    },
    {
      sentence: "Readers send the same, and a client resumes at another without a gap.",
      tests: [
        ["live/reader.test.ts", "streams the blocks that …"],
        ["examples/workers.test.ts", "streams every block from …"],
      ],
    },
    {
      sentence: "Reverted blocks are kept for `followOrphans`.",
      tests: [
        ["follow/orphans.test.ts", "is read from for …"],
      ],
    },
    {
      sentence: "A host's own chain is followed by its adapter's changes or, without them, by its events.",
      tests: [
        ["live/own-chain.test.ts", "is followed by blocks …"],
        ["live/own-chain.test.ts", "is followed by what …"],
      ],
    },
  ],
  webhooks: [
    {
      sentence: "Each matching event is delivered at least once under the same `webhook-id`, even if the process is killed.",
      tests: [
        ["webhooks/fault.test.ts", "loses no delivery in …"],
        ["live/receiver-kills.long.ts", "agree on every wallet …"],
      ],
    },
    {
      sentence: "What was delivered in the last moments before a kill is sent again, in the same order.",
      tests: [
        ["webhooks/delivery.test.ts", "is kept, also where …"],
      ],
    },
    {
      sentence: "First attempts at a target go out in the order of events, for all its webhooks together.",
      tests: [
        ["webhooks/delivery.test.ts", "is that of events, …"],
        ["webhooks/delivery.test.ts", "is kept across all …"],
        ["webhooks/handing-over.test.ts", "are sent in the …"],
      ],
    },
    {
      sentence: "With `strict`, nothing overtakes.",
      tests: [
        ["webhooks/cursors.test.ts", "lets nothing overtake where …"],
      ],
    },
    {
      sentence: "Failed attempts are repeated by the schedule, also across restarts.",
      tests: [
        ["webhooks/outcome.test.ts", "wait 5 s, 5 …"],
        ["webhooks/engine.test.ts", "goes on with retries …"],
      ],
    },
    {
      sentence: "Past (`from`) and live events join without gap or repetition.",
      tests: [
        ["webhooks/cursors.test.ts", "is told of the …"],
      ],
    },
    {
      sentence: "At most `webhooks.window` deliveries of a webhook are open.",
      tests: [
        ["webhooks/superseded.test.ts", "never has more deliveries …"],
      ],
    },
    {
      sentence: "A delivery of a reverted block that was never attempted is `dropped`, without a reversal.",
      tests: [
        ["webhooks/superseded.test.ts", "one that was never …"],
      ],
    },
    {
      sentence: "One that was attempted is not retried (`superseded`), and its reversal names it in `reverts` and follows any attempt under way.",
      tests: [
        ["webhooks/superseded.test.ts", "a delivery that failed …"],
        ["webhooks/superseded.test.ts", "nor after an attempt …"],
        ["webhooks/superseded.test.ts", "a block that was applied …"],
      ],
    },
    {
      sentence: "A block that is applied again supersedes its open reversal.",
      tests: [
        ["webhooks/superseded.test.ts", "a block that is applied again …"],
      ],
    },
    {
      sentence: "It is not sent again to a target that has taken it if its reversal was never attempted: in strict order, each block follows the one before, or repeats it.",
      tests: [
        ["live/told-in-order.test.ts", "each block that is …"],
      ],
    },
    {
      sentence: "The last thing a target hears is what the chain says.",
      tests: [
        ["live/random-forks.test.ts", "end with its state, …"],
      ],
    },
    {
      sentence: "So it is for a webhook that was disabled and enabled, however often: it first gets reversals of what it was sent, on any branch, and the chain has lost.",
      tests: [
        ["webhooks/superseded.test.ts", "what a webhook was …"],
        ["webhooks/superseded.test.ts", "nor where the webhook …"],
        ["webhooks/superseded.test.ts", "reversals of two branches …"],
        ["webhooks/last-word.test.ts", "of a transaction that …"],
        ["webhooks/superseded.test.ts", "a reversal of which …"],
      ],
    },
    {
      sentence: "With `confirmations`, a block reverted earlier is never sent.",
      tests: [
        ["webhooks/chain.test.ts", "stay so many blocks …"],
        ["webhooks/chain.test.ts", "never see a block …"],
      ],
    },
    {
      sentence: "A batch has one signature; without a superseded event it continues under another id.",
      tests: [
        ["webhooks/cursors.test.ts", "sends batches: one signature, …"],
        ["webhooks/rules.test.ts", "of which one block …"],
      ],
    },
    {
      sentence: "No more deliveries a second are sent than `rate` says.",
      tests: [
        ["webhooks/rules.test.ts", "holds for retries, but …"],
      ],
    },
    {
      sentence: "A replay sends the same `webhook-id`, beside live events and across restarts.",
      tests: [
        ["webhooks/cursors.test.ts", "sends the events of …"],
        ["webhooks/rules.test.ts", "goes on over a …"],
      ],
    },
    {
      sentence: "A target that hangs delays no other.",
      tests: [
        ["webhooks/delivery.test.ts", "keeps a healthy target …"],
        ["webhooks/rules.test.ts", "is slow for both: …"],
      ],
    },
    {
      sentence: "429, or 503 with `Retry-After`, pauses the target for that long, at most an hour, also across restarts.",
      tests: [
        ["webhooks/delivery.test.ts", "pause the target, not …"],
        ["webhooks/rules.test.ts", "is paused for both; …"],
        ["webhooks/pauses.test.ts", "goes on over a …"],
      ],
    },
    {
      sentence: "A delivery answered so is retried when the pause ends, and given up in the time of all retries.",
      tests: [
        ["webhooks/pauses.test.ts", "are made when it …"],
        ["webhooks/outcome.test.ts", "give up after as …"],
      ],
    },
    {
      sentence: "A pause is shown, and `PATCH` ends it for all webhooks of the target, in any process; a ping does not.",
      tests: [
        ["webhooks/pauses.test.ts", "is shown with all …"],
        ["webhooks/pauses.test.ts", "is ended at once …"],
        ["webhooks/pauses.test.ts", "is ended by a …"],
        ["webhooks/pauses.test.ts", "is not ended by a …"],
      ],
    },
    {
      sentence: "410, or five days of failures, disables a webhook; once enabled, it continues with the first event that had not arrived, or where `from` says, and deliveries that a client sent again are what they were before.",
      tests: [
        ["webhooks/delivery.test.ts", "with status 410 disable …"],
        ["webhooks/delivery.test.ts", "with status 410 of …"],
        ["webhooks/last-word.test.ts", "is not gone back …"],
        ["webhooks/last-word.test.ts", "is kept where it …"],
        ["webhooks/delivery.test.ts", "disable a webhook when …"],
        ["webhooks/cursors.test.ts", "keeps what a PATCH …"],
      ],
    },
    {
      sentence: "Webhooks that ask for it are told of failing webhooks a day ahead, of disabled and enabled ones, and of dead deliveries.",
      tests: [
        ["webhooks/own-events.test.ts", "tell those that ask …"],
        ["webhooks/own-events.test.ts", "tell of a delivery …"],
      ],
    },
    {
      sentence: "Setting the wall clock disables no webhook, loses no history and delays no retry.",
      tests: [
        ["webhooks/timekeeper.test.ts", "are not disabled sooner"],
        ["webhooks/timekeeper.test.ts", "do not lose their …"],
        ["webhooks/timekeeper.test.ts", "are retried no later, …"],
      ],
    },
    {
      sentence: "Under one `Idempotency-Key`, a webhook is created once.",
      tests: [
        ["webhooks/cursors.test.ts", "is created once under …"],
        ["webhooks/store.test.ts", "gives the same reply …"],
      ],
    },
    {
      sentence: "Webhooks outlive the chain's store, and no event is lost or repeated.",
      tests: [
        ["webhooks/outlive.test.ts", "outlive the chain's store: …"],
      ],
    },
    {
      sentence: "An export carries webhooks to another machine with ids and secrets; open deliveries are sent there under the same `webhook-id`.",
      tests: [
        ["webhooks/outlive.test.ts", "are carried to another …"],
      ],
    },
    {
      sentence: "A target that answers again is sent at once what failed there; what fails by itself keeps its schedule, with at most one attempt more between two of its times.",
      tests: [
        ["webhooks/answers-again.test.ts", "is sent at once …"],
        ["webhooks/answers-again.test.ts", "is sent it in …"],
        ["webhooks/answers-again.test.ts", "takes one attempt more …"],
      ],
    },
    {
      sentence: "Each webhook of a replica gets each event once, through forks and the replica's death.",
      tests: [
        ["replica/own-webhooks.test.ts", "tell each webhook of …"],
      ],
    },
  ],
};
